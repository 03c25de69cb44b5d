"""Certificates: whether strangers trust the endpoint's, and for how much longer."""

import ipaddress
from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from driftwatch.checks.base import Found, NotChecked, Policy, Verdict, Verified, check, count, listed
from driftwatch.checks.sources import item
from driftwatch.evidence import Missing, Opening, Tls
from driftwatch.model import Certificate, Json, Severity

DAY = timedelta(days=1)

_FAULTS = {
    "expired": "The certificate has expired",
    "not-yet-valid": "The certificate is not valid yet",
    "intermediate-expired": "A certificate above it, an intermediate or a root, has expired",
    "self-signed": "The certificate is signed by itself and no trusted authority vouches for it",
    # Nobody can tell these two apart from outside: the issuer is simply not there.
    "unknown-ca": "The chain that was sent ends at an authority that is not trusted: a private one, or "
    "a further intermediate is missing",
    "missing-intermediate": "The issuer's certificate was not sent and is not a trusted root: an "
    "intermediate is missing, or the authority is a private one",
    "wrong-host": "The certificate does not cover this host name",
    "protocol-version": "The server and this client share no TLS version",
    "unknown-name": "The server has no certificate for this host name and ends the handshake",
    "alpn": "The server refuses to speak HTTP/1.1 over TLS",
    "not-tls": "The server does not speak TLS on this port",
    "handshake": "The TLS handshake failed",
    "unsuitable": "A certificate of the chain may not be used like this: it is made for another purpose, "
    "limited by its issuer, or too weak",
    "strictness": "The certificate chain breaks a rule of RFC 5280",
}


@check(
    id="tls/chain",
    title="The certificate does not verify",
    severity=Severity.WILL_BREAK,
    sources=(item(1),),
    root=True,
)
def chain(url: str, openings: tuple[Opening, ...] | Missing, tls: Tls | Missing, settings: Json) -> Verdict:
    """The certificate chain of the very connection that carried the probe, judged as a client would.

    Why it matters:
        Agents connect from machines that you do not control. They refuse an expired certificate, a name that
        the certificate does not cover and a chain with a missing intermediate, even where your own browser
        has cached what is missing and shows a closed lock.

    How to fix it:
        Look at what is named. A missing intermediate: serve the full chain (leaf first, then every
        intermediate); with nginx, Caddy or a load balancer that is the file called "fullchain", not "cert".
        An expired certificate: renew it, and load the new file. A wrong host name: issue the certificate
        for exactly the name that you publish.

        If the certificate is issued by a private authority on purpose, give driftwatch that authority's file
        as the server's `ca_file`.
    """
    if isinstance(tls, Missing):
        return _without_tls(url, openings, tls)
    if tls.fault == "client-certificate":
        carried = isinstance(settings, dict) and settings.get("client_certificate") is True
        verb = "refused the configured" if carried else "asks for a"
        return NotChecked(f"the server {verb} client certificate", "client-certificate")
    return list(_chain_faults(tls))


@check(
    id="tls/expiry",
    title="The certificate ends soon",
    severity=Severity.HEADS_UP,
    sources=(item(1),),
)
def expiry(tls: Tls, taken_at: datetime, policy: Policy) -> Verdict:
    """How long the endpoint's own certificate is still valid.

    Where the connections of one probe show different certificates, the one that ends first counts.

    A threshold (30, 14, 7, 3 and 1 days) counts only where it is below 30 % of the certificate's lifetime:
    a certificate of 90 days has 14, 7, 3 and 1; one of six days has 1.

    Why it matters:
        On the day a certificate ends, every agent loses the server at once. Renewal is automatic in most
        places, and that is why nobody notices when it has stopped working.

    How to fix it:
        Renew the certificate, then find out why the automatic renewal did not: usually a closed port 80, a
        DNS record that moved, or a renewed file that the web server was never told to load again.
    """
    leaf = tls.certificate
    if leaf is None:
        cause = None if tls.verified else "tls/chain"
        return NotChecked("the server sent no readable certificate", "no-certificate", cause)
    left, time = leaf.days_left(taken_at), leaf.not_after - taken_at
    ends = f"{leaf.not_after:%Y-%m-%d %H:%M} UTC"
    if tls.also:
        ends += f" (another certificate is served too: {_until(tls.also)})"
    if taken_at >= leaf.not_after:
        found = Found(
            severity=Severity.WILL_BREAK,
            code="expired",
            subject=tls.host,
            message="The certificate has expired.",
            expected=f"valid at {taken_at:%Y-%m-%d %H:%M} UTC",
            measured=f"ended {ends}",
        )
        return [found]
    lifetime = leaf.not_after - leaf.not_before
    counting = [days for days in policy.tls_days if days * DAY < lifetime * policy.tls_share]
    reached = [days for days in counting if left <= days]
    if not reached:
        return Verified(f"ends {ends}, in {_left(time)}{_above(tls, taken_at)}")
    closest = min(reached)
    found = Found(
        code=f"within-{closest}-days",
        subject=tls.host,
        # Whole days count: what has 30 hours left has one day left, and ends within two.
        message=f"The certificate ends within {_days(closest + (time > closest * DAY))}.",
        expected=f"more than {_days(max(counting))} left",
        measured=f"ends {ends}, in {_left(time)}",
    )
    return [found]


def _above(tls: Tls, taken_at: datetime) -> str:
    """What is sent above the leaf and ends before it; what has ended already was not needed."""
    ends = [one.not_after for one in tls.chain[1:] if taken_at < one.not_after < tls.chain[0].not_after]
    return f"; a certificate above it ends before, {min(ends):%Y-%m-%d}" if ends else ""


def _until(others: tuple[Certificate, ...]) -> str:
    return listed([f"serial {one.serial:.40}, until {one.not_after:%Y-%m-%d}" for one in others])


def _without_tls(url: str, openings: tuple[Opening, ...] | Missing, missing: Missing) -> Verdict:
    if not url.startswith("http:"):
        return NotChecked.of(missing)
    address = _address(openings)
    if address is None or not address.is_global:
        return NotChecked.of(missing)
    found = Found(
        code="plain-http",
        subject=_host(url),
        message="The endpoint is plain http on a public address: tokens and answers travel unprotected.",
        expected="https",
        measured=f"http to {address}",
    )
    return [found]


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or url
    except ValueError:  # evidence from a file may hold anything
        return url


def _address(openings: tuple[Opening, ...] | Missing) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that the first connection of the probe went to."""
    if isinstance(openings, Missing):
        return None
    for opening in openings:
        for exchange in opening.attempts:
            if exchange.address:
                return _ip(exchange.address.rpartition(":")[0].strip("[]").partition("%")[0])
    return None


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _chain_faults(tls: Tls) -> Iterator[Found]:
    """The verdict of the handshake first, then what it hides: OpenSSL names one fault only."""
    seen = {None if tls.verified else tls.fault or "handshake"}
    if tls.host_matches is False:
        seen.add("wrong-host")
    if tls.chain_complete is False:
        seen.add("missing-intermediate")
    for code in sorted(seen - {None}, key=lambda code: (code != tls.fault, code)):
        yield _chain_fault(str(code), tls)


def _chain_fault(code: str, tls: Tls) -> Found:
    what = _FAULTS.get(code, _FAULTS["handshake"])
    detail = tls.verify_message if code == tls.fault else None
    return Found(
        # What verified all the same: the missing certificate is in the store of trusted ones.
        severity=Severity.HEADS_UP if tls.verified else None,
        code=code,
        subject=tls.host,
        message=f"{what}.",
        expected=f"a certificate that covers {tls.host}"
        if code == "wrong-host"
        else f"a chain from {tls.host} to a trusted root ({tls.trust})",
        measured=detail or _measured(code, tls),
    )


def _measured(code: str, tls: Tls) -> str:
    leaf = tls.certificate
    if code == "wrong-host" and leaf is not None:
        names = ", ".join(leaf.subject_alt_names[:5]) or "no name"
        return f"the certificate covers {names}"
    if leaf is None:
        return "no certificate was received"
    return f"{count(len(tls.chain), 'certificate')} sent; the leaf was issued by {leaf.issuer}"


def _left(time: timedelta) -> str:
    """Whole days, and below two of them whole hours."""
    if time >= 2 * DAY:
        return _days(time // DAY)
    hours = time // timedelta(hours=1)
    return count(hours, "hour") if hours else "less than an hour"


def _days(number: int) -> str:
    return count(number, "day")
