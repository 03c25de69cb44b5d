"""The lists beside the tools, where they are watched: prompts, resources and templates of resources."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from driftwatch.evidence import Exchange, FurtherList, Missing
from driftwatch.model import Json
from driftwatch.probe.conversation import eras
from driftwatch.probe.conversation.dialogue import Dialogue
from driftwatch.probe.conversation.listing import Kind, Page, read_list
from driftwatch.probe.conversation.talk import Talk

PROMPTS = Kind(method="prompts/list", member="prompts", noun="prompt", key="name", code="not-an-entry")
RESOURCES = Kind(method="resources/list", member="resources", noun="resource", key="uri", code="not-an-entry")
TEMPLATES = Kind(
    method="resources/templates/list",
    member="resourceTemplates",
    noun="resource template",
    key="uriTemplate",
    code="not-an-entry",
)

WATCHED = {
    "prompts": {"prompts": PROMPTS},
    "resources": {"resources": RESOURCES, "templates": TEMPLATES},
}
"""By capability, which is also the word of the configuration: the lists, by the name that they go by here."""

METHOD_NOT_FOUND = -32601

Question = Callable[[Kind, Page], Awaitable[Exchange]]
"""Asks for one page of a list; the configuration wants it, so that it comes on top of a probe's budget."""


async def read(talk: Talk, watch: Sequence[str]) -> tuple[FurtherList, ...]:
    """The watched lists, read in the same conversation as the tools."""

    async def ask(kind: Kind, page: Page) -> Exchange:
        request = talk.further(kind.method, kind.method, page.params)
        return (await talk.dialogue.send(replace(request, extra=True), fresh=page.fresh)).exchange

    modern = talk.surface.revision == eras.MODERN_REVISION
    return await read_all(ask, talk.dialogue, talk.surface.capabilities, watch, modern=modern)


async def read_all(
    ask: Question, dialogue: Dialogue, capabilities: Json, watch: Sequence[str], *, modern: bool
) -> tuple[FurtherList, ...]:
    """The watched lists of a server; one whose capability it does not declare is not asked for."""
    declared = capabilities if isinstance(capabilities, dict) else {}
    found = []
    for capability in sorted(WATCHED.keys() & set(watch)):
        offered = declared.get(capability) is not None and declared.get(capability) is not False
        for name, kind in WATCHED[capability].items():
            listing = (
                await read_list(
                    partial(ask, kind),
                    limits=dialogue.limits,
                    wait=dialogue.wait,
                    modern=modern,
                    kind=kind,
                )
                if offered
                else Missing(f"the server declares no {capability} capability", f"no-{capability}-capability")
            )
            if not isinstance(listing, Missing) and _is_unknown(listing.exchanges[-1]):
                # Most servers with resources have no templates, and say so in this way.
                listing = Missing(f"the server does not know {kind.method}", "unknown-method")
            found.append(FurtherList(kind=name, listing=listing))
    return tuple(found)


def _is_unknown(exchange: Exchange) -> bool:
    return exchange.error_code == METHOD_NOT_FOUND
