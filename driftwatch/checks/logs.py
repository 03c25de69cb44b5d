"""What the server's own log files keep."""

from driftwatch.checks.base import Found, Verdict, Verified, check, count
from driftwatch.checks.sources import item
from driftwatch.evidence import LogFile, LogSearch
from driftwatch.model import Depth, Severity


@check(
    id="logs/credentials",
    title="Credentials of clients end up in the server's log files",
    severity=Severity.WILL_BREAK,
    sources=(item(12),),
    depth=Depth.FULL,
)
def credentials(logs: LogSearch) -> Verdict:
    """The configured log files, searched for what the probe carried.

    A full probe sends a new random value in the header X-Driftwatch-Probe, and its own credential where one
    is configured, be it in the URL's query. Both are counted in the newest files, rotated and compressed ones
    included. Only counts and file names are reported.

    Why it matters:
        A token in a log works for everybody who can read the log: the colleague, the log service, the
        backup. It keeps working after its owner has forgotten the request it was sent with.

    How to fix it:
        Log names of headers and not their values, or redact `Authorization`, `Cookie` and everything unknown
        before a line is written, in the application and in the proxy in front of it. Then rotate the token
        and delete the lines: they are copied wherever logs are copied.
    """
    found = [one for file in logs.files for one in _held(file)]
    if found:
        return found
    size = sum(file.size for file in logs.files)
    unread = f", {len(logs.unread)} could not be read" if logs.unread else ""
    older = f", {logs.left_out} older ones left out" if logs.left_out else ""
    return Verified(f"{count(len(logs.files), 'file')} searched, {size:,} bytes{unread}{older}")


def _held(file: LogFile) -> list[Found]:
    findings = []
    if file.credential:
        findings.append(
            Found(
                code="credential",
                subject=file.name,
                message="The log file holds the credential that the probe uses.",
                expected="no occurrence",
                measured=count(file.credential, "occurrence"),
            )
        )
    if file.marker:
        findings.append(
            Found(
                code="headers",
                subject=file.name,
                message="The log file holds the value of a request header that the server does not know.",
                expected="no occurrence of this probe's X-Driftwatch-Probe",
                measured=count(file.marker, "occurrence"),
            )
        )
    return findings
