"""The tool list once more, to see whether it stays what it is when nothing changes."""

from driftwatch.evidence import Exchange, Missing
from driftwatch.model import Era, Json
from driftwatch.probe.listing import Page, read_list
from driftwatch.probe.talk import Talk
from driftwatch.toolset.canonical import written_alike


async def read(talk: Talk) -> tuple[Json, ...] | Missing:
    """The complete list, read in the same conversation and on the same connection as the first time."""
    first = talk.surface.tools
    if isinstance(first, Missing):
        return first

    async def ask(page: Page) -> Exchange:
        request = talk.further("tools/list:again", "tools/list", page.params)
        return (await talk.dialogue.send(page.asked(request), fresh=page.fresh)).exchange

    dialogue = talk.dialogue
    modern = talk.surface.era is Era.MODERN
    listing = await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=modern)
    if listing.complete:
        return first if written_alike(first, listing.tools) else listing.tools
    why = listing.fault.message if listing.fault else "it did not end"
    return Missing(f"the second read of the list failed: {why}", "second-read")
