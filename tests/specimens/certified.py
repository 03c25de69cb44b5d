"""What is wrong with certificates and handshakes, and one where nothing is."""

import atexit
import ssl
import tempfile
from collections.abc import Callable
from pathlib import Path

from driftwatch.model import State
from driftwatch.probe import Limits
from tests.servers.certificates import intermediate, root, self_signed, tls_1_1, write_root
from tests.servers.raw import STALL, http
from tests.specimens.http import Answer
from tests.specimens.mcp import Mcp
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen

HOST = "127.0.0.1"

_FOLDER = tempfile.TemporaryDirectory(prefix="driftwatch-roots-")
atexit.register(_FOLDER.cleanup)
TRUSTED = {"ca_file": write_root(Path(_FOLDER.name))}

NO_CERTIFICATE = (NOT_CHECKED, "no-certificate")
OTHER_ROOT = self_signed("a root that nobody knows", authority=True)


def _untrusted(
    name: str,
    deviation: str,
    certificate: Callable[[], ssl.SSLContext],
    code: str,
    expiry: tuple[State, str] = VERIFIED,
) -> Specimen:
    """A server that no client gets to, because of its certificate."""
    return Specimen(
        name=name,
        deviation=deviation,
        eras=(),
        secure=True,
        certificate=certificate,
        target=TRUSTED,
        expect={
            "tls/chain": (FAILED, code),
            "tls/expiry": expiry,
            "transport/endpoint": (NOT_CHECKED, "certificate"),
        },
        blocked="certificate",
    )


def _client_certificate_wanted() -> ssl.SSLContext:
    context = intermediate().issue(HOST).context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(TRUSTED["ca_file"])
    return context


CERTIFIED = (
    Specimen(
        name="tls",
        deviation="none: TLS with a certificate that is right",
        secure=True,
        certificate=lambda: intermediate().issue(HOST).context(),
        target=TRUSTED,
        expect={"tls/chain": VERIFIED, "tls/expiry": VERIFIED},
    ),
    Specimen(
        name="tls-ends-soon",
        deviation="a certificate of 90 days with 5 left",
        secure=True,
        certificate=lambda: intermediate().issue(HOST, days=(-85, 5)).context(),
        target=TRUSTED,
        expect={"tls/chain": VERIFIED, "tls/expiry": (RISK, "within-7-days")},
    ),
    Specimen(
        name="redirect-http",
        deviation="307 from https to plain http",
        make=lambda: Mcp(
            before=lambda _, __: Answer(status=307, headers=(("Location", "http://127.0.0.1/mcp"),))
        ),
        eras=(),
        secure=True,
        certificate=lambda: intermediate().issue(HOST).context(),
        target=TRUSTED,
        expect={
            "tls/chain": VERIFIED,
            "tls/expiry": VERIFIED,
            "transport/endpoint": (FAILED, "redirect"),
            "transport/redirect": (FAILED, "plain-http"),
        },
        blocked="redirect",
    ),
    _untrusted(
        "tls-expired",
        "a certificate that ended three days ago",
        lambda: intermediate().issue(HOST, days=(-90, -3)).context(),
        "expired",
        (FAILED, "expired"),
    ),
    _untrusted(
        "tls-future",
        "a certificate that is valid from the day after tomorrow",
        lambda: intermediate().issue(HOST, days=(2, 90)).context(),
        "not-yet-valid",
    ),
    _untrusted(
        "tls-wrong-host",
        "a certificate for another name",
        lambda: intermediate().issue("other.test").context(),
        "wrong-host",
    ),
    _untrusted(
        "tls-self-signed",
        "a certificate that vouches for itself",
        lambda: self_signed(HOST, HOST).context(),
        "self-signed",
    ),
    _untrusted(
        "tls-unknown-ca",
        "a certificate of an authority that nobody trusts",
        lambda: OTHER_ROOT.issue(common_name="its intermediate", authority=True).issue(HOST).context(),
        "unknown-ca",
    ),
    _untrusted(
        "tls-missing-intermediate",
        "the intermediate is not sent",
        lambda: intermediate().issue(HOST).context(chain=False),
        "missing-intermediate",
    ),
    _untrusted(
        "tls-intermediate-expired",
        "the intermediate ended yesterday",
        lambda: root().issue(common_name="an old one", authority=True, days=(-90, -1)).issue(HOST).context(),
        "intermediate-expired",
    ),
    Specimen(
        name="tls-client-certificate",
        deviation="clients need a certificate of their own",
        eras=(),
        secure=True,
        certificate=_client_certificate_wanted,
        handshake_only=True,
        target=TRUSTED,
        expect={"tls/chain": (NOT_CHECKED, "client-certificate"), "tls/expiry": VERIFIED},
        blocked="tls",
    ),
    Specimen(
        name="tls-1.1",
        deviation="nothing newer than TLS 1.1",
        eras=(),
        secure=True,
        certificate=lambda: tls_1_1(intermediate().issue(HOST).context()),
        handshake_only=True,
        target=TRUSTED,
        expect={"tls/chain": (FAILED, "protocol-version"), "tls/expiry": NO_CERTIFICATE},
        blocked="tls",
    ),
    Specimen(
        name="tls-plain-http",
        deviation="plain HTTP at an https address",
        make=lambda: Mcp(greet=lambda _: (http(b"use TLS", status="400 Bad Request"),)),
        eras=(),
        secure=True,
        expect={"tls/chain": (FAILED, "not-tls"), "tls/expiry": NO_CERTIFICATE},
        blocked="tls",
    ),
    Specimen(
        name="tls-silent-port",
        deviation="a port that accepts connections and never says a word",
        make=lambda: Mcp(greet=lambda _: (STALL,)),
        eras=(),
        secure=True,
        target={"limits": Limits(timeout_s=0.3)},
        expect={
            "tls/chain": (NOT_CHECKED, "timeout"),
            "tls/expiry": (NOT_CHECKED, "timeout"),
            "transport/endpoint": (FAILED, "timeout"),
        },
        blocked="timeout",
    ),
)
"""Over TLS, except where nobody speaks it."""
