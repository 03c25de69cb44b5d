"""The tool list once more, to see whether it stays what it is when nothing changes."""

from driftwatch.evidence import Exchange, Missing, Surface
from driftwatch.model import Era, Json
from driftwatch.probe.conversation.listing import Page, read_list
from driftwatch.probe.conversation.talk import Talk
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
    limits, wait = dialogue.limits, dialogue.wait
    page = _first_page(talk.surface)
    # Instances that take turns page by page give the same mixture again, unless a read begins at another one.
    turned = page is not None and not _is(page, await ask(Page(again=True)))
    listing = await read_list(ask, limits=limits, wait=wait, modern=modern)
    if turned and listing.complete and written_alike(first, listing.tools):
        listing = await read_list(ask, limits=limits, wait=wait, modern=modern)
    if listing.complete:
        return first if written_alike(first, listing.tools) else listing.tools
    why = listing.fault.message if listing.fault else "it did not end"
    return Missing(f"the second read of the list failed: {why}", "second-read")


def _first_page(surface: Surface) -> list[Json] | None:
    """The first of several pages."""
    listing = surface.listing
    if isinstance(listing, Missing) or listing.pages == 1:
        return None
    result = listing.exchanges[-listing.pages].result
    tools = result.get("tools") if isinstance(result, dict) else None
    return tools if isinstance(tools, list) else None


def _is(page: list[Json], exchange: Exchange) -> bool:
    result = exchange.result
    return isinstance(result, dict) and written_alike(result.get("tools"), page)
