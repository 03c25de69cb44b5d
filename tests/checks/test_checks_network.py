from driftwatch.evidence import Addresses, AddressFault
from driftwatch.model import Result, State
from tests.checks.factories import evidence, judged

CHECK = "network/addresses"
IPV4, OTHER_IPV4, IPV6 = "192.0.2.1:443", "192.0.2.2:443", "[2001:db8::1]:443"


def fault(address: str, code: str = "timeout") -> AddressFault:
    return AddressFault(address=address, code=code, message=f"{address}: {code}")


def of(accepted: tuple[str, ...], *faults: AddressFault) -> Result:
    return judged(CHECK, evidence(addresses=Addresses(accepted=accepted, faults=faults)))


def test_addresses_that_all_accept_are_verified() -> None:
    assert of((IPV4, IPV6)).state is State.VERIFIED


def test_a_dead_family_is_a_risk_with_a_code_of_its_own() -> None:
    result = of((IPV4,), fault(IPV6))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "ipv6-dead")
    assert result.findings[0].message == "No IPv6 address of the server answers."
    assert of((IPV6,), fault(IPV4, "refused")).code == "ipv4-dead"


def test_one_dead_backend_among_others_is_a_risk() -> None:
    result = of((IPV4, IPV6), fault(OTHER_IPV4, "refused"))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "address-dead")
    assert result.findings[0].subject == OTHER_IPV4


def test_a_family_that_this_machine_has_no_way_to_says_nothing_about_the_server() -> None:
    result = of((IPV4,), fault(IPV6, "unreachable"))
    assert result.state is State.VERIFIED
    assert result.reason == "IPv6 could not be tried: this machine has no way to it"


def test_an_address_that_is_unreachable_while_its_family_works_is_dead() -> None:
    assert of((IPV4,), fault(OTHER_IPV4, "unreachable")).code == "address-dead"


def test_when_no_address_accepts_any_more_nothing_is_concluded() -> None:
    result = of((), fault(IPV4, "refused"))
    assert (result.state, result.code) == (State.NOT_CHECKED, "no-connection")
