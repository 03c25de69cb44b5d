"""Certificates as they should be, and in every way in which they should not."""

import datetime as dt
import ssl
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Issued:
    """A certificate with its key, and what has to be sent with it."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    above: tuple[x509.Certificate, ...] = ()

    def context(self, *, chain: bool = True) -> ssl.SSLContext:
        """A server's context that shows this certificate, with or without its issuers."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.show(context, chain=chain)
        return context

    def show(self, context: ssl.SSLContext, *, chain: bool = True) -> None:
        """Have a server show this certificate from its next handshake on."""
        certificates = [self.certificate, *(self.above if chain else ())]
        with NamedTemporaryFile(suffix=".pem") as file:
            file.write(self.pem(certificates))
            file.flush()
            context.load_cert_chain(file.name)

    def pem(self, certificates: Sequence[x509.Certificate] | None = None) -> bytes:
        """The key and the certificates, in PEM."""
        key = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return key + b"".join(one.public_bytes(Encoding.PEM) for one in certificates or [self.certificate])

    def issue(
        self,
        *names: str,
        days: tuple[float, float] = (-1, 90),
        common_name: str = "a leaf",
        authority: bool = False,
        purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
        identifiers: bool = True,
    ) -> "Issued":
        """A certificate below this one, valid from and to so many days from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(common_name, key, days).issuer_name(self.certificate.subject)
        builder = _extend(builder, names, authority=authority, purpose=purpose)
        if identifiers:
            above = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
            builder = builder.add_extension(above, critical=False)
        certificate = builder.sign(self.key, SHA256())
        root = self.certificate.issuer == self.certificate.subject
        return Issued(certificate, key, () if root else (self.certificate, *self.above))


def self_signed(
    common_name: str, *names: str, days: tuple[float, float] = (-1, 90), authority: bool = False
) -> Issued:
    """A certificate that vouches for itself: a root, or a leaf that nobody else vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(common_name, key, days).issuer_name(_name(common_name))
    builder = _extend(builder, names, authority=authority, purpose=ExtendedKeyUsageOID.SERVER_AUTH)
    return Issued(builder.sign(key, SHA256()), key)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    common_name: str, key: ec.EllipticCurvePrivateKey, days: tuple[float, float]
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(common_name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + days[0] * DAY)
        .not_valid_after(NOW + days[1] * DAY)
    )


def _extend(
    builder: x509.CertificateBuilder,
    names: Sequence[str],
    *,
    authority: bool,
    purpose: x509.ObjectIdentifier,
) -> x509.CertificateBuilder:
    builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    if not authority:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(map(_general, names)), critical=False)
    return builder


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@cache
def root() -> Issued:
    """The root that tests trust."""
    return self_signed("the trusted root", authority=True)


@cache
def intermediate() -> Issued:
    """What the trusted root lets sign."""
    return root().issue(common_name="the intermediate", authority=True)


def write_root(folder: Path) -> Path:
    """The trusted root as a CA file."""
    file = folder / "roots.pem"
    file.write_bytes(root().certificate.public_bytes(Encoding.PEM))
    return file


def for_other_names(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same server, which knows no name that it is asked for."""
    context.sni_callback = lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
    return context


def tls_1_1(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same server, of long ago."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns, rightly
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context
