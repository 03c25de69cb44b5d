"""The certificate facts of the very connection that a probe used.

The verdict is OpenSSL's. Since it names one fault only (wrong host hides expired), the dates, the match of
the name and the completeness of the chain are worked out here from what the server sent.
"""

import hashlib
import ssl
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from driftwatch.evidence import Tls
from driftwatch.model import Certificate
from driftwatch.probe.wire.tls import NO_CLIENT, Trust, reason_code, verify_error

_MAX_CHAIN = 10
_DER = 2  # _ssl.ENCODING_DER
_VERIFY_CODES = {
    9: "not-yet-valid",
    10: "expired",
    18: "self-signed",
    19: "unknown-ca",
    2: "unknown-ca",
    20: "unknown-ca",
    21: "unknown-ca",
    62: "wrong-host",
    64: "wrong-host",
}
_ROOT_SENT = 19
_STRICT_CODES = range(80, 95)  # X509_V_FLAG_X509_STRICT, which is off here


def facts(
    connection: ssl.SSLSocket,
    *,
    error: ssl.SSLError | None,
    host: str,
    trust: Trust,
    now: Callable[[], datetime],
) -> Tls:
    """The certificate facts of a connection whose handshake succeeded, or failed with ``error``.

    ``host`` is the A-label or the IP address that was asked for.
    """
    ders = sent_chain(connection)
    version = connection.version() if error is None else None
    chain = tuple(
        replace(certificate, version=version, chain_length=len(ders))
        for der in ders[:_MAX_CHAIN]
        if (certificate := _certificate(der)) is not None
    )
    leaf = _certificate(ders[0]) if ders else None
    code, message = verify_error(error)
    return Tls(
        certificate=chain[0] if leaf is not None else None,
        verified=error is None,
        verify_code=code,
        verify_message=message,
        fault=None if error is None else classify(error, ders, now()),
        host=host,
        host_matches=names_match(leaf.subject_alt_names, host) if leaf is not None else None,
        chain=chain,
        # A handshake that OpenSSL verified has shown a complete chain.
        chain_complete=True if error is None else _chain_complete(ders, trust),
        trust=trust.name,
    )


def sent_chain(connection: ssl.SSLSocket | ssl.SSLObject) -> tuple[bytes, ...]:
    """The certificates that the server sent, leaf first, as DER; also after a verification that failed."""
    public = getattr(connection, "get_unverified_chain", None)  # Python 3.13
    if public is not None:
        return tuple(public())
    inner: Any = getattr(connection, "_sslobj", None)  # the same call before it was public
    chain = inner.get_unverified_chain() if inner is not None else None
    return tuple(certificate.public_bytes(_DER) for certificate in chain or ())


def classify(error: ssl.SSLError, ders: Sequence[bytes], now: datetime) -> str:
    """The stable code of a handshake that failed; the codes are those of ``Tls.fault``."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        if (code := reason_code(error)) is not None:
            return code
        # Before TLS 1.3 a server that misses a client certificate only says that the handshake failed, but
        # it has sent its own by then.
        if error.reason == "SSLV3_ALERT_HANDSHAKE_FAILURE" and ders:
            return NO_CLIENT
        return "handshake"
    found = _VERIFY_CODES.get(error.verify_code, "unsuitable")
    if found == "unsuitable" and error.verify_code in _STRICT_CODES:
        return "strictness"
    if found == "expired":
        leaf = _certificate(ders[0]) if ders else None
        return "intermediate-expired" if leaf is not None and leaf.not_after > now else "expired"
    if found == "unknown-ca" and error.verify_code != _ROOT_SENT and _issuer_missing(ders):
        return "missing-intermediate"
    return found


def names_match(names: Sequence[str], host: str) -> bool:
    """Whether a certificate with these alternative names is for this host (RFC 6125, as OpenSSL reads it).

    A ``*`` stands for one whole first label, followed by at least two more. The common name never counts.
    """
    host = host.lower().rstrip(".")
    try:
        address = str(ip_address(host))
    except ValueError:
        _, _, parent = host.partition(".")
        wanted = {host, f"*.{parent}"} if "." in parent else {host}
        return any(name.lower().rstrip(".") in wanted for name in names)
    return address in names


def _load(der: bytes) -> x509.Certificate | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cryptography warns about oddities; they are the server's, not ours
        try:
            parsed = x509.load_der_x509_certificate(der)
            _ = parsed.issuer, parsed.subject  # read late, and then they may turn out to be nonsense
        except (ValueError, x509.InvalidVersion):
            return None
        return parsed


@lru_cache(maxsize=2048)
def _certificate(der: bytes) -> Certificate | None:
    """The facts of one certificate, or None. Cached: the same certificate comes at every probe."""
    parsed = _load(der)
    if parsed is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Certificate(
                not_before=parsed.not_valid_before_utc,
                not_after=parsed.not_valid_after_utc,
                issuer=parsed.issuer.rfc4514_string(),
                subject_alt_names=_alternative_names(parsed),
                version=None,
                chain_length=0,
                leaf_sha256=hashlib.sha256(der).hexdigest(),
                serial=f"{parsed.serial_number:x}",
            )
        except ValueError:
            return None


def _alternative_names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return ()
    addresses = map(str, names.get_values_for_type(x509.IPAddress))
    return (*names.get_values_for_type(x509.DNSName), *addresses)


def _parsed(ders: Sequence[bytes]) -> list[x509.Certificate]:
    return [certificate for der in ders[:_MAX_CHAIN] if (certificate := _load(der)) is not None]


def _issued(issuer: x509.Certificate, subject: x509.Certificate) -> bool:
    try:
        subject.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _top(chain: list[x509.Certificate]) -> x509.Certificate:
    """Where the issuers that were sent lead to, starting at the leaf."""
    current, others = chain[0], chain[1:]
    while current.issuer != current.subject:
        issuer = next((other for other in others if _issued(other, current)), None)
        if issuer is None:
            break
        others.remove(issuer)
        current = issuer
    return current


def _issuer_missing(ders: Sequence[bytes]) -> bool:
    """Whether the leaf's own issuer is not among what was sent."""
    chain = _parsed(ders)
    return bool(chain) and chain[0].issuer != chain[0].subject and _top(chain) is chain[0]


def _chain_complete(ders: Sequence[bytes], trust: Trust) -> bool | None:
    """True when what was sent leads to a trusted root or to a root of its own; None: it cannot be told."""
    chain = _parsed(ders)
    if not chain:
        return None
    top = _top(chain)
    if top.issuer == top.subject:
        return True
    if any(_issued(anchor, top) for anchor in _anchors(trust).get(top.issuer.public_bytes(), ())):
        return True
    return False if top is chain[0] else None


@lru_cache(maxsize=8)
def _anchors(trust: Trust) -> Mapping[bytes, Sequence[x509.Certificate]]:
    """The trusted certificates by their subject in DER."""
    found: dict[bytes, list[x509.Certificate]] = {}
    for anchor in map(_load, trust.context.get_ca_certs(binary_form=True)):
        if anchor is not None:
            found.setdefault(anchor.subject.public_bytes(), []).append(anchor)
    return found
