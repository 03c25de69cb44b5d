"""Every address of the endpoint's name, each asked for one connection."""

import asyncio

from driftwatch.evidence import Addresses, AddressFault, Missing
from driftwatch.probe.wire import connect
from driftwatch.probe.wire.address import Address, refusal
from driftwatch.probe.wire.connect import Resolver
from driftwatch.probe.wire.fault import Broken
from driftwatch.probe.wire.place import place

SHORTEST_S = 0.1
"""With less time than this nothing is tried: the answer would depend on how busy this machine is."""

NO_TIME = Missing("no time was left to try every address", "deadline", "tools/pagination")


async def knock(
    url: str, resolver: Resolver, *, ends: float, patience_s: float = connect.ADDRESS_S
) -> Addresses | Missing:
    """Connect to every address at once and hang up again; nothing is sent.

    Takes at most the resolver's time and ``patience_s``, and ends at ``ends`` of the event loop's clock: then
    nothing was seen. Addresses that a probe never connects to are left out. Missing too when the name does
    not resolve, or the URL has no host.
    """
    if ends - asyncio.get_running_loop().time() < SHORTEST_S:
        return NO_TIME
    try:
        async with asyncio.timeout_at(ends):
            return await _knock(url, resolver, patience_s)
    except TimeoutError:
        return NO_TIME


async def _knock(url: str, resolver: Resolver, patience_s: float) -> Addresses | Missing:
    endpoint = place(url)
    if endpoint is None:
        return Missing("the URL has no host", "address")
    try:
        found = await connect.addresses(resolver, endpoint.host, endpoint.port)
    except Broken as broken:
        return Missing(broken.fault.message, broken.fault.code)
    allowed = [at for at in found[: connect.MAX_ADDRESSES] if refusal(at.ip, named_by_server=False) is None]
    async with asyncio.TaskGroup() as group:
        tries = [group.create_task(_try(address, patience_s)) for address in allowed]
    faults = tuple(fault for each in tries if (fault := each.result()) is not None)
    silent = {fault.address for fault in faults}
    return Addresses(
        accepted=tuple(str(address) for address in allowed if str(address) not in silent),
        faults=faults,
    )


async def _try(address: Address, patience_s: float) -> AddressFault | None:
    try:
        stream = await connect.reach(address, patience_s)
    except Broken as why:
        return AddressFault(address=str(address), code=why.fault.code, message=why.fault.message)
    stream.close()
    return None
