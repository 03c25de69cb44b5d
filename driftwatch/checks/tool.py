"""One tool at a time: its name, its description, and what its text does to a reader."""

import re
from collections import defaultdict
from collections.abc import Iterator

from driftwatch.checks.base import Found, Policy, Verdict, Verified, check, listed, shown
from driftwatch.checks.clients import Client
from driftwatch.checks.shapes import TOOL, Misfit, misfits, sdks
from driftwatch.checks.sources import OWN, item, rule
from driftwatch.checks.view import Tool
from driftwatch.model import Severity
from driftwatch.toolset.characters import invisible
from driftwatch.toolset.text import is_prose, steering_in

INSTRUCTIONS = "instructions"
"""The subject of findings about the server's instructions."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
"""The characters of a tool name, since revision 2025-11-25 (server/tools, Tool Names)."""


@check(
    id="tool/missing-description",
    title="A tool has no description",
    severity=Severity.HEADS_UP,
    sources=(rule(4, own_id=True),),
)
def missing_description(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """Tools whose description is absent, blank or not a text.

    Why it matters:
        The description is how an agent decides. Without one it guesses from the name: the tool is not
        called where it would help, or called where it should not be, and no log shows either.

    How to fix it:
        Write one sentence: what the tool does, and when to use it. With most SDKs that is the docstring of
        the function.
    """
    for tool in tools:
        text = tool.get("description")
        if not isinstance(text, str) or not text.strip():
            yield Found(
                code="missing",
                subject=tool.subject,
                message="The tool has no description: agents guess from its name what it does.",
                expected="a sentence",
                measured="absent" if text is None else "blank" if isinstance(text, str) else shown(text),
                pointer="/description",
            )


@check(
    id="tool/description-too-long",
    title="A description is longer than a client keeps",
    severity=Severity.HEADS_UP,
    sources=(rule(5, own_id=True),),
)
def description_too_long(tools: tuple[Tool, ...], policy: Policy) -> Iterator[Found]:
    """Descriptions against the number of characters that each client keeps.

    Why it matters:
        What is over the limit is cut off or dropped, often in the middle of a sentence, and the rest reads
        as if it were all. It explains a tool that works in one client and behaves strangely in another.

    How to fix it:
        Move details into the descriptions of the parameters, where agents look for them, and keep in the
        tool's own description what it does and when to choose it.
    """
    for tool in tools:
        text = tool.get("description")
        length = len(text) if isinstance(text, str) else 0
        cutting = [client for client in policy.clients if length > client.description_limit]
        if isinstance(text, str) and cutting:
            names = tuple(client.name for client in cutting)
            size = len(text.encode("utf-8", "surrogatepass"))
            yield Found(
                code=f"over-{_strictest(cutting).description_limit}",
                subject=tool.subject,
                message=f"The description is longer than {listed(names)} will take.",
                expected=f"at most {_strictest(cutting).description_limit} characters",
                measured=f"{length} characters, {size} bytes",
                pointer="/description",
                clients=names,
            )


@check(
    id="tool/name-too-long",
    title="A name is longer than a client accepts",
    severity=Severity.HEADS_UP,
    sources=(rule(6, own_id=True),),
)
def name_too_long(tools: tuple[Tool, ...], policy: Policy) -> Iterator[Found]:
    """Tool names against the number of characters that each client accepts.

    Why it matters:
        A client that cannot take the name leaves the tool out. Its siblings stay, so the server looks fine.

    How to fix it:
        Shorten the name and let the description say the rest. Remember that gateways put a prefix in front.
    """
    for tool in tools:
        length = len(tool.name)
        losing = [client for client in policy.clients if length > client.name_limit]
        if losing:
            names = tuple(client.name for client in losing)
            limit = min(client.name_limit for client in losing)
            yield Found(
                code=f"over-{limit}",
                subject=tool.subject,
                message=f"The name is longer than {listed(names)} will take: they lose the tool.",
                expected=f"at most {limit} characters",
                measured=f"{length} characters",
                pointer="/name",
                clients=names,
            )


@check(
    id="tool/case-collision",
    title="Two tools have the same name once upper and lower case are ignored",
    severity=Severity.WILL_BREAK,
    sources=(rule(7, own_id=True),),
)
def case_collision(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """Tools whose names are equal in lower case, and tools that stand in the list twice.

    Why it matters:
        Clients find tools without regard to case. Of two such tools they keep one, and which one differs from
        client to client: the other can never be called.

    How to fix it:
        Rename one of them. Two tools of exactly the same name usually come from registering twice, or from a
        gateway that joins two servers without a prefix.
    """
    groups: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in tools:
        if tool.name:
            groups[tool.name.lower()].append(tool)
    for twins in groups.values():
        seen = {twins[0].name}
        all_names = listed([shown(name, 64) for name in dict.fromkeys(twin.name for twin in twins)])
        for tool in twins[1:]:
            same = tool.name in seen
            seen.add(tool.name)
            yield Found(
                code="duplicate" if same else "case",
                subject=tool.name,
                message="The name stands in the list more than once."
                if same
                else f"The name differs from {shown(twins[0].name, 64)} only by case.",
                expected="names that differ in more than case",
                measured=f"{len(twins)} tools: {all_names}",
                pointer="/name",
            )


@check(
    id="tool/name-charset",
    title="A name has characters that clients need not accept",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    since_revision="2025-11-25",
)
def name_charset(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """Tool names against the alphabet of the specification: letters, digits, underscore, hyphen and dot.

    Why it matters:
        Clients hand the name on to a model's interface, which takes only a small alphabet. A space, a slash
        or an umlaut makes them refuse the tool or rename it, and a renamed tool is hard to find in your
        logs.

    How to fix it:
        Keep to `A-Z a-z 0-9 _ - .` in the name and put the readable form into `title`.
    """
    for tool in tools:
        name = tool.name
        if not name:
            yield Found(
                severity=Severity.WILL_BREAK,
                code="no-name",
                subject=tool.subject,
                message="The tool has no name that is a text: it cannot be called.",
                expected="a name",
                measured=shown(tool.get("name")),
                pointer="/name",
            )
        elif not _NAME.fullmatch(name):
            others = dict.fromkeys(character for character in name if not _NAME.fullmatch(character))
            yield Found(
                code="charset",
                subject=name,
                message="The name has characters outside of what clients must accept.",
                expected="only A-Z a-z 0-9 _ - .",
                measured=listed([f"U+{ord(character):04X}" for character in others]),
                pointer="/name",
            )


@check(
    id="tool/definition",
    title="A tool's definition breaks the specification's schema",
    severity=Severity.WILL_BREAK,
    sources=(OWN,),
)
def definition(tools: tuple[Tool, ...], revision: str) -> Iterator[Found]:
    """The types of a tool's members: description, title, annotations, output schema, icons, execution, _meta.

    Members that no revision knows are allowed. One that the negotiated revision does not have is an observed
    risk where its type is wrong: the official SDKs know one form of a tool for all revisions. Names and input
    schemas have checks of their own.

    Why it matters:
        The official SDKs read a list as a whole: where one tool does not validate, the client's call fails,
        and the agent has none of your tools. `null` and a hint of `"true"` are cases of their own:
        Python reads them as absent and as true, the TypeScript SDK does not, so that a server works in one
        client and is empty in the next.

    How to fix it:
        Leave out what there is nothing to say about instead of writing null, and write hints as true and
        false, not as texts. When all tools have it, look at the serializer's setting for absent values.
    """
    for tool in tools:
        every = misfits(tool.raw, TOOL, revision) if isinstance(tool.raw, dict) else []
        found = [misfit for misfit in every if misfit.known] or every
        if found:
            yield Found(
                severity=None if found[0].known else Severity.HEADS_UP,
                code=found[0].code,
                subject=tool.subject,
                message=f"{_wrong(found, revision)}: clients on {sdks(found)} drop the whole list.",
                expected=found[0].says,
                measured=listed([misfit.measured for misfit in found], 3),
                pointer=found[0].pointer,
            )


def _wrong(found: list[Misfit], revision: str) -> str:
    if not found[0].known:
        return f"A member that {revision} does not know is of a type that no revision allows"
    if all(misfit.value is None and misfit.optional for misfit in found):
        return "Null stands where there may only be nothing"
    return "A member is of the wrong type"


@check(
    id="tool/steering-text",
    title="A text gives the agent orders",
    severity=Severity.HEADS_UP,
    sources=(item(8),),
)
def steering_text(tools: tuple[Tool, ...], instructions: str | None) -> Verdict:
    """Descriptions, titles, instructions and other sentences against phrases that steer the agent.

    A sentence counts wherever it stands in a definition: as a value of an enum, a default, an example, the
    name of a parameter. The table of phrases is wider than the checklist's: always, never, ignore, instead
    of, do not tell, before or prior to any other, must call, prefer this, keep secret and their contracted
    and disguised forms. An order is about what the agent does: which tools it calls and when, whose
    instructions it follows, what it keeps from the user. What only describes ("never returns null", "ignore
    messages from bots") is no finding.

    Why it matters:
        Descriptions go straight into the model's context, beside the user's own words. A text that orders
        the agent around takes decisions away from the client, works against other tools, and is what
        reviewers search for when they look for prompt injection. They will find yours.

    How to fix it:
        Say what the tool does and when it helps, and leave the choice to the client: "searches the order
        archive" instead of "always call this first". If you did not write the text, find out who did.
    """
    found: list[Found] = []
    harmless = 0
    for subject, texts in _readable(tools, instructions):
        each = steering_in([text for _, text in texts])
        phrases = [
            (pointer, phrase)
            for (pointer, _), found_there in zip(texts, each, strict=True)
            for phrase in found_there
        ]
        orders = [(pointer, phrase) for pointer, phrase in phrases if phrase.order]
        harmless += len(phrases) - len(orders)
        if orders:
            found.append(
                Found(
                    code="orders",
                    subject=subject,
                    message="The text tells the agent what to do instead of what the tool does.",
                    expected="a description",
                    measured=listed([f"{shown(one.text, 40)} in {pointer}" for pointer, one in orders], 3),
                    pointer=orders[0][0],
                )
            )
    if harmless and not found:
        return Verified(
            f"{harmless} phrases that only describe" if harmless > 1 else "1 phrase that only describes"
        )
    return found


@check(
    id="tool/invisible-characters",
    title="A text has characters that nobody sees",
    severity=Severity.HEADS_UP,
    sources=(item(8),),
)
def invisible_characters(tools: tuple[Tool, ...], instructions: str | None) -> Iterator[Found]:
    """Every text of a tool and the instructions against characters without a shape.

    Zero-width and bidirectional characters, tag characters, fillers, blanks and controls count; joiners in
    emoji and in the scripts that need them do not.

    Why it matters:
        People review what they see, models read what is there. Hidden characters carry instructions past a
        reviewer, or turn the order of a line around. Harmless ones come from copying out of a web page, and
        they still make two equal names different.

    How to fix it:
        Remove them: the finding names the place and the code points. If you did not put them there, treat
        it as an incident and look at the last release.
    """
    for subject, texts in _readable(tools, instructions, every=True):
        places = [(pointer, hidden) for pointer, text in texts if (hidden := invisible(text))]
        if places:
            count = sum(hidden.total() for _, hidden in places)
            names = dict.fromkeys(name for _, hidden in places for name in hidden)
            yield Found(
                code="hidden",
                subject=subject,
                message="The text has characters that people cannot see and models read.",
                expected="visible characters",
                measured=f"{count} in {places[0][0]}: {listed(names, 4)}"
                if len(places) == 1
                else f"{count} in {len(places)} texts: {listed(names, 4)}",
                pointer=places[0][0],
            )


def _readable(
    tools: tuple[Tool, ...], instructions: str | None, *, every: bool = False
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """What a model reads of each tool, and the instructions: subject, and texts with their places.

    Prose is what stands in its place, and every sentence; ``every`` has names, values and patterns too.
    """
    for tool in tools:
        yield tool.subject, tool.texts if every else tuple(_prose(tool))
    if instructions:
        yield INSTRUCTIONS, (("the instructions", instructions),)


def _prose(tool: Tool) -> Iterator[tuple[str, str]]:
    return (item for item in tool.texts if item[0].endswith(("/description", "/title")) or is_prose(item[1]))


def _strictest(clients: list[Client]) -> Client:
    return min(clients, key=lambda client: client.description_limit)
