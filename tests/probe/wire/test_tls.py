"""The certificate facts of the very connection, good and bad; run on every Python that is supported."""

import os
import ssl
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

from driftwatch.evidence import Missing, Tls
from driftwatch.probe.wire.certificates import facts, names_match
from driftwatch.probe.wire.exchange import Request
from driftwatch.probe.wire.tls import TrustStore
from tests.servers import certificates
from tests.servers.certificates import Issued, intermediate, root, self_signed
from tests.servers.raw import ASK, RESET, STALL, http, serve, serve_openssl

HOST = "mcp.test"
ANSWER = http(b'{"jsonrpc":"2.0","id":1,"result":{}}')
REQUEST = Request(label="discover", rpc={"jsonrpc": "2.0", "id": 1, "method": "server/discover"})


def old_root() -> Issued:
    return self_signed("a root that nobody knows", authority=True)


def two_levels() -> Issued:
    return old_root().issue(common_name="its intermediate", authority=True)


def with_root(issued: Issued, top: Issued) -> Issued:
    return replace(issued, above=(*issued.above, top.certificate))


def unknown_with_root() -> Issued:
    top = old_root()
    return with_root(top.issue(HOST), top)


# name: (server, code, fault, verify code, host matches, chain complete, certificates sent)
BAD: dict[str, tuple[Callable[[], ssl.SSLContext], str, str, int | None, bool | None, bool | None, int]] = {
    "expired": (
        lambda: intermediate().issue(HOST, days=(-90, -3)).context(),
        "certificate", "expired", 10, True, True, 2,
    ),
    "not-yet-valid": (
        lambda: intermediate().issue(HOST, days=(2, 90)).context(),
        "certificate", "not-yet-valid", 9, True, True, 2,
    ),
    "intermediate-expired": (
        lambda: root().issue(common_name="an old one", authority=True, days=(-90, -1)).issue(HOST).context(),
        "certificate", "intermediate-expired", 10, True, True, 2,
    ),
    "wrong-host": (
        lambda: intermediate().issue("other.test", "192.0.2.1").context(),
        "certificate", "wrong-host", 62, False, True, 2,
    ),
    "expired-and-wrong-host": (
        lambda: intermediate().issue("other.test", days=(-90, -3)).context(),
        "certificate", "wrong-host", 62, False, True, 2,
    ),
    "common-name-only": (
        lambda: intermediate().issue(common_name=HOST).context(),
        "certificate", "wrong-host", 62, False, True, 2,
    ),
    "missing-intermediate": (
        lambda: intermediate().issue(HOST).context(chain=False),
        "certificate", "missing-intermediate", 20, True, False, 1,
    ),
    "self-signed": (
        lambda: self_signed(HOST, HOST).context(),
        "certificate", "self-signed", 18, True, True, 1,
    ),
    "unknown-ca": (
        lambda: two_levels().issue(HOST).context(),
        "certificate", "unknown-ca", 20, True, None, 2,
    ),
    "unknown-ca-with-its-root": (
        lambda: unknown_with_root().context(),
        "certificate", "unknown-ca", 19, True, True, 2,
    ),
    "made-for-clients": (
        lambda: intermediate().issue(HOST, purpose=ExtendedKeyUsageOID.CLIENT_AUTH).context(),
        "certificate", "unsuitable", 26, True, True, 2,
    ),
    "tls-1.1": (
        lambda: certificates.tls_1_1(intermediate().issue(HOST).context()),
        "tls", "protocol-version", None, None, None, 0,
    ),
    "for-other-names": (
        lambda: certificates.for_other_names(intermediate().issue(HOST).context()),
        "tls", "unknown-name", None, None, None, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", BAD.values(), ids=BAD)
async def test_a_certificate_that_is_not_accepted_is_told_with_all_its_facts(
    row: Any, open_wire: Any
) -> None:
    make, code, fault, verify_code, matches, complete, sent = row
    with serve_openssl(ANSWER, make()) as server:
        async with open_wire(server.at(HOST)) as wire:
            exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == (code, "tls")
    assert exchange.address == f"127.0.0.1:{server.port}"
    assert server.requests == []
    facts = wire.tls
    assert isinstance(facts, Tls)
    assert (facts.verified, facts.fault, facts.verify_code) == (False, fault, verify_code)
    assert (facts.host, facts.host_matches, facts.chain_complete) == (HOST, matches, complete)
    assert len(facts.chain) == sent
    if sent:
        assert facts.certificate == facts.chain[0]
        assert facts.certificate.chain_length == sent
        assert facts.certificate.version is None


async def test_a_good_certificate_is_recorded_from_the_connection_that_was_used(
    open_wire: Any, ca_file: Path
) -> None:
    issued = intermediate().issue(HOST, "*.mcp.test", "127.0.0.1")
    async with serve([ASK, ANSWER], tls=issued.context()) as server, open_wire(server.at(HOST)) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.result == {}
    assert server.connections == 1
    facts = wire.tls
    assert isinstance(facts, Tls)
    assert facts.certificate is not None
    assert (facts.verified, facts.fault, facts.verify_code, facts.verify_message) == (True, None, 0, None)
    assert (facts.host_matches, facts.chain_complete, facts.trust) == (True, True, ca_file.name)
    assert facts.certificate.version == "TLSv1.3"
    assert facts.certificate.issuer == "CN=the intermediate"
    assert facts.certificate.subject_alt_names == (HOST, "*.mcp.test", "127.0.0.1")
    assert facts.certificate.serial == f"{issued.certificate.serial_number:x}"
    assert facts.certificate.not_after == issued.certificate.not_valid_after_utc
    assert [one.issuer for one in facts.chain] == ["CN=the intermediate", "CN=the trusted root"]


async def test_the_expiry_of_a_wrong_host_is_recorded_too(open_wire: Any) -> None:
    issued = intermediate().issue("other.test", days=(-90, -3))
    async with serve([ASK], tls=issued.context()) as server, open_wire(server.at(HOST)) as wire:
        await wire.send(REQUEST)
    assert isinstance(wire.tls, Tls)
    assert wire.tls.certificate is not None
    assert wire.tls.certificate.days_left(datetime.now(UTC)) == -3 - 1


async def test_which_certificate_of_a_chain_has_expired_is_judged_by_the_clock_that_was_passed_in(
    open_wire: Any,
) -> None:
    def later() -> datetime:
        return datetime.now(UTC) - timedelta(days=30)

    context = intermediate().issue(HOST, days=(-90, -3)).context()
    async with serve([ASK], tls=context) as server, open_wire(server.at(HOST), clock=later) as wire:
        await wire.send(REQUEST)
    assert isinstance(wire.tls, Tls)
    assert wire.tls.fault == "intermediate-expired"


async def test_an_address_is_matched_against_the_addresses_of_the_certificate(open_wire: Any) -> None:
    good, bad = intermediate().issue("127.0.0.1").context(), intermediate().issue("127.0.0.2").context()
    async with serve([ASK, ANSWER], tls=good) as server, open_wire(server.url) as wire:
        assert (await wire.send(REQUEST)).exchange.fault is None
    async with serve([ASK, ANSWER], tls=bad) as server, open_wire(server.url) as wire:
        await wire.send(REQUEST)
    assert isinstance(wire.tls, Tls)
    assert (wire.tls.host, wire.tls.fault, wire.tls.verify_code) == ("127.0.0.1", "wrong-host", 64)


async def test_an_international_name_is_asked_for_by_its_a_label(open_wire: Any) -> None:
    context = intermediate().issue("xn--bcher-kva.test").context()
    async with serve([ASK, ANSWER], tls=context) as server, open_wire(server.at("bücher.test")) as wire:
        assert (await wire.send(REQUEST)).exchange.fault is None
    assert isinstance(wire.tls, Tls)
    assert (wire.tls.host, wire.tls.host_matches) == ("xn--bcher-kva.test", True)


async def test_a_sloppy_private_authority_is_accepted_by_every_python(open_wire: Any) -> None:
    """Python 3.13 asks for key identifiers unless it is told not to: that would look like drift."""
    context = intermediate().issue(HOST, identifiers=False).context()
    async with serve([ASK, ANSWER], tls=context) as server, open_wire(server.at(HOST)) as wire:
        assert (await wire.send(REQUEST)).exchange.fault is None


async def test_a_trusted_intermediate_is_trust_enough(open_wire: Any, tmp_path: Path) -> None:
    file = tmp_path / "intermediate.pem"
    file.write_bytes(intermediate().certificate.public_bytes(Encoding.PEM))
    context = intermediate().issue(HOST).context(chain=False)
    tls = TrustStore().get(ca_file=file)
    async with serve([ASK, ANSWER], tls=context) as server, open_wire(server.at(HOST), tls=tls) as wire:
        assert (await wire.send(REQUEST)).exchange.fault is None
    assert isinstance(wire.tls, Tls)
    assert wire.tls.chain_complete is True


async def test_a_port_that_speaks_plain_http_is_told_apart(open_wire: Any) -> None:
    script = [b"HTTP/1.1 400 Bad Request\r\n\r\n"]
    async with serve(script) as server, open_wire(f"https://{HOST}:{server.port}/") as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == ("tls", "tls")
    assert "does not speak TLS" in exchange.fault.message
    assert isinstance(wire.tls, Tls)
    assert (wire.tls.fault, wire.tls.certificate, wire.tls.chain) == ("not-tls", None, ())


@pytest.mark.parametrize(("step", "code"), [(STALL, "timeout"), (RESET, "reset")])
async def test_a_port_that_breaks_the_handshake_has_no_certificate_facts(
    step: Any, code: str, open_wire: Any
) -> None:
    async with serve([step]) as server, open_wire(f"https://{HOST}:{server.port}/", timeout_s=1) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == (code, "tls")
    assert wire.tls == Missing(exchange.fault.message, code, "transport/endpoint")


async def test_a_server_that_leaves_during_the_handshake_is_a_fault_of_tls(open_wire: Any) -> None:
    async with serve([]) as server, open_wire(f"https://{HOST}:{server.port}/") as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert exchange.fault.code in {"tls", "reset"}
    if exchange.fault.code == "tls":
        assert exchange.fault.message.endswith("closed the connection during the handshake")
        assert isinstance(wire.tls, Tls)
        assert wire.tls.fault == "handshake"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_server_that_wants_a_client_certificate_is_named(
    version: ssl.TLSVersion, open_wire: Any, ca_file: Path
) -> None:
    context = intermediate().issue(HOST).context()
    context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(ca_file)
    with serve_openssl(ANSWER, context) as server:
        async with open_wire(server.at(HOST)) as wire:
            exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert exchange.fault.code == "tls"
    assert "client certificate" in exchange.fault.message
    assert isinstance(wire.tls, Tls)
    assert (wire.tls.fault, wire.tls.verified, wire.tls.host_matches) == ("client-certificate", False, True)
    assert len(wire.tls.chain) == 2


async def test_a_configured_client_certificate_is_shown(
    open_wire: Any, ca_file: Path, tmp_path: Path
) -> None:
    client = root().issue("me", purpose=ExtendedKeyUsageOID.CLIENT_AUTH)
    file = tmp_path / "client.pem"
    file.write_bytes(client.pem())
    context = intermediate().issue(HOST).context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(ca_file)
    tls = TrustStore().get(ca_file=ca_file, client_cert=file)
    async with serve([ASK, ANSWER], tls=context) as server, open_wire(server.at(HOST), tls=tls) as wire:
        assert (await wire.send(REQUEST)).exchange.fault is None


def test_each_trust_setting_has_one_context(ca_file: Path) -> None:
    store = TrustStore()
    assert store.get(ca_file=ca_file) is store.get(ca_file=ca_file)
    assert store.get() is store.get()
    assert store.get() is not store.get(ca_file=ca_file)
    assert (store.get().name, store.get(ca_file=ca_file).name) == ("default", "roots.pem")


def test_the_context_is_the_same_on_every_python(ca_file: Path) -> None:
    context = TrustStore().get(ca_file=ca_file).context
    assert context.verify_flags == ssl.VERIFY_X509_TRUSTED_FIRST | ssl.VERIFY_X509_PARTIAL_CHAIN
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert not context.hostname_checks_common_name
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_file_that_changed_is_loaded_again(tmp_path: Path) -> None:
    store, file = TrustStore(), tmp_path / "roots.pem"
    file.write_bytes(root().certificate.public_bytes(Encoding.PEM))
    first = store.get(ca_file=file)
    file.write_bytes(file.read_bytes() + intermediate().certificate.public_bytes(Encoding.PEM))
    assert store.get(ca_file=file) is not first


def test_a_file_that_was_replaced_by_one_as_large_and_as_old_is_loaded_again(tmp_path: Path) -> None:
    store, file = TrustStore(), tmp_path / "roots.pem"
    file.write_bytes(root().certificate.public_bytes(Encoding.PEM))
    first, before = store.get(ca_file=file), file.stat()
    (tmp_path / "new.pem").write_bytes(file.read_bytes())
    (tmp_path / "new.pem").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.get(ca_file=file) is not first


def test_files_that_cannot_be_used_are_errors(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.pem"):
        TrustStore().get(ca_file=tmp_path / "none.pem")
    (tmp_path / "bad.pem").write_text("no certificate")
    with pytest.raises(ssl.SSLError):
        TrustStore().get(ca_file=tmp_path / "bad.pem")


def test_an_encrypted_key_is_an_error_and_no_question_on_the_terminal(tmp_path: Path) -> None:
    client = root().issue("me")
    encrypted = client.key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    file = tmp_path / "client.pem"
    file.write_bytes(encrypted + client.certificate.public_bytes(Encoding.PEM))
    with pytest.raises(ssl.SSLError):
        TrustStore().get(client_cert=file)


@pytest.mark.parametrize(
    ("names", "host", "matches"),
    [
        (["mcp.test"], "mcp.test", True),
        (["MCP.test"], "mcp.TEST", True),
        (["mcp.test"], "mcp.test.", True),
        (["mcp.test"], "a.mcp.test", False),
        (["*.mcp.test"], "a.mcp.test", True),
        (["*.mcp.test"], "mcp.test", False),
        (["*.mcp.test"], "a.b.mcp.test", False),
        (["*.mcp.test"], "xn--bcher-kva.mcp.test", True),
        (["a*.mcp.test"], "ab.mcp.test", False),
        (["*.test"], "mcp.test", False),
        (["*"], "mcp", False),
        (["192.0.2.1"], "192.0.2.1", True),
        (["192.0.2.1"], "192.0.2.2", False),
        (["2001:db8::1"], "2001:DB8:0::1", True),
        (["*.0.2.1"], "192.0.2.1", False),
        ([], "mcp.test", False),
    ],
)
def test_names_match_as_openssl_matches_them(names: list[str], host: str, matches: bool) -> None:  # noqa: FBT001
    assert names_match(names, host) is matches


@pytest.mark.parametrize("names", [("*.test",), ("a*.mcp.test",), ("*.mcp.test",), ("*.b.mcp.test",)])
async def test_our_match_agrees_with_the_handshake(names: tuple[str, ...], open_wire: Any) -> None:
    context = intermediate().issue(*names).context()
    async with serve([ASK, ANSWER], tls=context) as server, open_wire(server.at("a.mcp.test")) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert isinstance(wire.tls, Tls)
    assert wire.tls.host_matches is (exchange.fault is None)


class Shown:
    """A handshake that ended with this certificate."""

    def __init__(self, *ders: bytes) -> None:
        self.ders = ders

    def get_unverified_chain(self) -> tuple[bytes, ...]:
        return self.ders


@pytest.mark.parametrize("damage", [b"version", b"issuer", b"subject"])
def test_a_certificate_that_is_nonsense_inside_is_no_certificate(damage: bytes) -> None:
    certificate = intermediate().certificate
    der = certificate.public_bytes(Encoding.DER)
    # The version stands in the first tag [0]; the first set of a name begins two bytes into it.
    at, byte = {
        b"version": (der.index(b"\xa0\x03\x02\x01") + 4, 88),
        b"issuer": (der.index(certificate.issuer.public_bytes()) + 2, 0x30),
        b"subject": (der.index(certificate.subject.public_bytes()) + 2, 0x30),
    }[damage]
    broken = der[:at] + bytes([byte]) + der[at + 1 :]
    error = ssl.SSLCertVerificationError(1, "not accepted")
    error.verify_code, error.verify_message = 20, "unable to get local issuer certificate"
    found = facts(
        Shown(broken, der),  # type: ignore[arg-type]
        error=error,
        host=HOST,
        trust=TrustStore().get(),
        now=lambda: datetime.now(UTC),
    )
    assert (found.certificate, found.host_matches, found.fault) == (None, None, "missing-intermediate")
