"""The way to the server: every address that its name has."""

from collections import defaultdict
from collections.abc import Iterable

from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check, listed
from driftwatch.checks.sources import OWN
from driftwatch.evidence import Addresses, AddressFault
from driftwatch.model import Depth, Severity


@check(
    id="network/addresses",
    title="An address of the server's name gives no connection",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    depth=Depth.FULL,
)
def addresses(addresses: Addresses) -> Verdict:
    """Every IPv4 and IPv6 address of the name, asked for one connection each.

    An address family that the machine of the probe has no way to is said, and not held against the server.

    Why it matters:
        A client tries the addresses of a name one after the other, often IPv6 first. A dead one costs it
        seconds before every connection, or the connection itself. It goes unnoticed, because from most
        places another address answers.

    How to fix it:
        Take the address out of DNS, or let the server (or the load balancer in front) listen on it. An AAAA
        record that nobody meant to publish is the usual case.
    """
    families = {4: "IPv4", 6: "IPv6"}
    accepted = {_family(address) for address in addresses.accepted}
    if not accepted:
        return NotChecked("no address accepted a further connection", "no-connection")
    faults = defaultdict[int, list[AddressFault]](list)
    for fault in addresses.faults:
        faults[_family(fault.address)].append(fault)
    found, unseen = list[Found](), list[str]()
    for family, broken in faults.items():
        dead = family not in accepted
        if dead and all(fault.code == "unreachable" for fault in broken):
            unseen.append(families[family])
        else:
            found += _dead(broken, f"{families[family]}-dead".lower() if dead else "address-dead")
    if found or not unseen:
        return found
    return Verified(f"{listed(unseen)} could not be tried: this machine has no way to it")


def _dead(faults: Iterable[AddressFault], code: str) -> list[Found]:
    whole = code != "address-dead"
    return [
        Found(
            code=code,
            subject=fault.address,
            message=f"No {code.partition('-')[0].replace('ipv', 'IPv')} address of the server answers."
            if whole
            else "One of the server's addresses does not answer.",
            expected="a connection",
            measured=fault.message,
        )
        for fault in faults
    ]


def _family(address: str) -> int:
    return 6 if address.startswith("[") or address.count(":") > 1 else 4
