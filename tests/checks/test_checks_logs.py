from driftwatch.evidence import LogFile, LogSearch, Missing
from driftwatch.model import Result, State
from tests.checks.factories import evidence, judged

CHECK = "logs/credentials"


def file(name: str = "app.log", *, marker: int = 0, credential: int = 0) -> LogFile:
    return LogFile(name=name, size=1200, marker=marker, credential=credential)


def of(*files: LogFile, unread: tuple[str, ...] = (), left_out: int = 0) -> Result:
    return judged(CHECK, evidence(logs=LogSearch(files=files, unread=unread, left_out=left_out)))


def test_files_without_a_trace_are_verified_and_counted() -> None:
    assert of(file()).reason == "1 file searched, 1,200 bytes"
    result = of(file(), file("app.log.1"), unread=("x.gz",), left_out=3)
    assert result.state is State.VERIFIED
    assert result.reason == "2 files searched, 2,400 bytes, 1 could not be read, 3 older ones left out"


def test_a_credential_in_a_log_fails_and_names_the_file_and_the_count_only() -> None:
    result = of(file("a.log", credential=3), file("b.log"))
    assert (result.state, result.code) == (State.FAILED, "credential")
    assert [(found.subject, found.measured) for found in result.findings] == [("a.log", "3 occurrences")]


def test_the_marker_alone_fails_too_because_whole_headers_are_logged() -> None:
    result = of(file(marker=1))
    assert (result.state, result.code) == (State.FAILED, "headers")
    assert result.findings[0].measured == "1 occurrence"


def test_without_log_files_the_reason_is_that_nobody_outside_can_read_them() -> None:
    why = Missing("a probe from outside cannot read the server's logs", "no-logs")
    result = judged(CHECK, evidence(logs=why))
    assert (result.state, result.reason) == (State.NOT_CHECKED, why.reason)
