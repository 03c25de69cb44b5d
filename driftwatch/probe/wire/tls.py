"""Trust settings, and what a handshake that failed says."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import certifi

from driftwatch.evidence import Missing, Tls
from driftwatch.probe.wire.fault import ssl_reason

ALPN = "http/1.1"

NO_CLIENT = "client-certificate"
"""The code of a handshake in which the server misses ours."""
_REASONS = {
    "not-tls": {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE"},
    "protocol-version": {
        "UNSUPPORTED_PROTOCOL",
        "TLSV1_ALERT_PROTOCOL_VERSION",
        "NO_PROTOCOLS_AVAILABLE",
        "VERSION_TOO_LOW",
    },
    "unknown-name": {"TLSV1_UNRECOGNIZED_NAME"},
    "alpn": {"TLSV1_ALERT_NO_APPLICATION_PROTOCOL", "NO_APPLICATION_PROTOCOL"},
    NO_CLIENT: {
        "TLSV13_ALERT_CERTIFICATE_REQUIRED",
        "SSLV3_ALERT_BAD_CERTIFICATE",
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
        "SSLV3_ALERT_CERTIFICATE_EXPIRED",
        "SSLV3_ALERT_CERTIFICATE_REVOKED",
        "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
        "TLSV1_ALERT_UNKNOWN_CA",
        "TLSV1_ALERT_ACCESS_DENIED",
    },
}
_EXPLAINED = {
    "not-tls": "the port does not speak TLS",
    "protocol-version": "the server offers no TLS version of at least 1.2",
    "unknown-name": "the server has no certificate for this host name",
    "alpn": "the server refused to speak http/1.1 (ALPN)",
    NO_CLIENT: "the server wants a client certificate",
}


@dataclass(frozen=True, eq=False)  # no slots: the context is made once, and only where TLS is spoken
class Trust:
    """One trust setting."""

    ca_file: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None

    @property
    def name(self) -> str:
        """``default`` or the configured CA file's name."""
        return "default" if self.ca_file is None else self.ca_file.name

    @cached_property
    def context(self) -> ssl.SSLContext:
        """What a handshake needs; building it takes about 20 ms.

        Raises OSError or ssl.SSLError when a file cannot be used.
        """
        return _context(self.ca_file, self.client_cert, self.client_key)


class TrustStore:
    """One SSLContext for each distinct trust setting, shared by all probes.

    A file that changed on disk (a renewed client certificate) is loaded again.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Path | None, ...], tuple[tuple[tuple[int, ...], ...], Trust]] = {}

    def get(
        self,
        *,
        ca_file: Path | None = None,
        client_cert: Path | None = None,
        client_key: Path | None = None,
    ) -> Trust:
        """The shared trust of a setting: certifi's roots, those of ``ca_file``, and a client certificate.

        Raises OSError or ssl.SSLError when a file cannot be used.
        """
        setting = (ca_file, client_cert, client_key)
        stats = [file.stat() for file in setting if file is not None]
        stamps = tuple((at.st_ino, at.st_ctime_ns, at.st_mtime_ns, at.st_size) for at in stats)
        known = self._known.get(setting)
        if known is None or known[0] != stamps:
            trust = Trust(*setting)
            if stamps:
                _ = trust.context  # a file that cannot be used is told now
            known = self._known[setting] = (stamps, trust)
        return known[1]


def _context(ca_file: Path | None, client_cert: Path | None, client_key: Path | None) -> ssl.SSLContext:
    # Not create_default_context: its flags differ between Python versions, which would look like drift,
    # and it obeys SSLKEYLOGFILE.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST | ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([ALPN])
    context.load_verify_locations(cafile=certifi.where())
    if ca_file is not None:
        with _named(ca_file):
            context.load_verify_locations(cafile=ca_file)
    if client_cert is not None:
        with _named(client_cert):
            # Without a password function OpenSSL would ask the terminal for an encrypted key's passphrase.
            context.load_cert_chain(client_cert, client_key, password=lambda: b"")
    return context


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Give what OpenSSL says about a file the file's name."""
    try:
        yield
    except ssl.SSLError as error:
        error.filename = str(file)
        raise


def file_fault(why: OSError) -> str:
    """What is wrong with a certificate file, in words, for what ``TrustStore.get`` raised."""
    if isinstance(why, ssl.SSLError):
        # Of a text that is no PEM at all, what OpenSSL says differs from one Python to the next.
        reason = "not a usable PEM file" if "PEM" in (why.reason or "PEM") else ssl_reason(why)
    else:
        reason = why.strerror or type(why).__name__
    return f"{why.filename}: {reason}" if why.filename else reason


def together(known: Tls | Missing, found: Tls) -> Tls:
    """The facts to keep of two connections to one endpoint: of the one that failed last, else of the first.

    Where both were verified and show different leaves, those of the leaf that ends first; it names the other.
    """
    if isinstance(known, Missing) or not found.verified:
        return found
    if not known.verified or known.certificate is None or found.certificate is None:
        return known
    leaves = {one.leaf_sha256: one for one in (known.certificate, *known.also, found.certificate)}
    first, *others = sorted(leaves.values(), key=lambda one: one.not_after)
    kept = found if first is found.certificate else known
    return replace(kept, also=tuple(others))


def refused_later(shown: Tls, error: ssl.SSLError) -> Tls | None:
    """The facts of a handshake that the server took back over our client certificate, as TLS 1.3 does it."""
    if reason_code(error) != NO_CLIENT:
        return None
    code, message = verify_error(error)
    return replace(shown, verified=False, verify_code=code, verify_message=message, fault=NO_CLIENT)


def explain(facts: Tls, error: ssl.SSLError) -> str:
    """One sentence about a handshake that failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of {facts.host} is not accepted: {facts.verify_message}"
    said = _EXPLAINED.get(facts.fault or "", "the TLS handshake failed")
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return f"{said}: the server closed the connection during the handshake"
    return f"{said}: {ssl_reason(error)}"


def reason_code(error: ssl.SSLError) -> str | None:
    """The code of a handshake that failed over something else than the server's certificate."""
    return next((code for code, reasons in _REASONS.items() if error.reason in reasons), None)


def verify_error(error: ssl.SSLError | None) -> tuple[int | None, str | None]:
    """OpenSSL's verdict as number and text; zero for none."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_code, error.verify_message
    return (0, None) if error is None else (None, ssl_reason(error))
