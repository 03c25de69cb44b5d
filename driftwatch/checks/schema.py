"""Input schemas: what agents fill in wrongly, and what makes a client drop the tool."""

import re
from collections import Counter
from collections.abc import Iterator

from driftwatch.checks import json_schema
from driftwatch.checks.base import Found, Policy, check, count, listed, shown
from driftwatch.checks.json_schema import MAX_LEVEL, Place
from driftwatch.checks.keywords import broken, elsewhere
from driftwatch.checks.object_schema import malformed
from driftwatch.checks.sources import OWN, rule
from driftwatch.checks.view import Tool
from driftwatch.model import Era, Json, Severity

_GROUPS = {
    "date-time": "time date datetime timestamp when deadline expiry expires scheduled due at",
    "email": "email mail",
    "uri": "url uri link href website webhook endpoint",
}
SEMANTIC_NAMES = {word: kind for kind, words in _GROUPS.items() for word in words.split()}
"""What a word in a parameter's name promises, as a value of ``format``."""

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
"""``eventTime``, ``event_time``, ``event-time``, ``EVENT_TIME``, ``HTTPTime``: each has the word ``time``."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110, section 5.6.2."""

_HEADER_TYPES = ({"string"}, {"integer"}, {"boolean"})


@check(
    id="schema/semantic-format",
    title="A string parameter means something specific and has no format",
    severity=Severity.HEADS_UP,
    sources=(rule(8, own_id=True),),
)
def semantic_format(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """String parameters whose name has a word for a time, an e-mail address or a URL, and nothing to say so.

    The name is taken apart into words (`repo_url`, `startTime`), so `format` and `update` do not count. The
    last such word decides. Any `format`, `enum` or `const` settles it. Nested parameters count too. Only the
    name is judged, as a model goes by it: an `at` that is described as a cell of a sheet counts as well.

    Why it matters:
        A model fills in what the name suggests to a person: "next Friday" for a date, a display name for an
        e-mail address, "example.org" for a URL. Your parser fails, and the next attempt fails in another
        way. A format is read by the model as well as by the validator.

    How to fix it:
        Add the format (`date-time`, `email` or `uri`) and one example: models imitate examples. Where the
        name only sounds like one, such as an `at` that is a place, rename it, give it an `enum`, or let this
        finding stand.
    """
    for tool in tools:
        bare = [
            (place, kind)
            for place in tool.places
            if place.kind == "properties"
            and place.used
            and (kind := _promise(place.name or "")) is not None
            and _is_bare_string(place.schema, tool.counted)
        ]
        if bare:
            # The order of members means nothing, and must not make two messages of one.
            bare.sort(key=lambda item: item[0].pointer)
            yield Found(
                code="no-format",
                subject=tool.subject,
                message="String parameters lack the format that their names promise.",
                expected="a format for each",
                measured=listed([f"{(place.name or '')[:64]}: {kind}" for place, kind in bare]),
                pointer=bare[0][0].pointer,
            )


@check(
    id="schema/missing-required",
    title="A tool has parameters and requires none of them",
    severity=Severity.HEADS_UP,
    sources=(rule(9),),
)
def missing_required(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """Tools with parameters and no `required` list, neither at the root nor in a branch of it.

    Why it matters:
        By its schema such a tool may be called with nothing, and agents do. What comes back is an error
        from deep inside instead of a sentence about the missing argument, and the agent takes the tool for
        broken.

    How to fix it:
        List under `required` what a call cannot do without. Where really every parameter is optional, give
        each a `default` and say so in the description; then this finding can stand.
    """
    for tool in tools:
        branches = json_schema.alternatives(tool.counted, tool.counted)
        if tool.parameters and not any(branch.get("required") for branch in branches):
            yield Found(
                code="none-required",
                subject=tool.subject,
                message="Every parameter is optional: the tool may be called with no arguments at all.",
                expected="at least one name under required",
                measured=count(len(tool.parameters), "parameter"),
                pointer="/inputSchema",
            )


@check(
    id="schema/deep-nesting",
    title="An input schema nests deeper than agents fill in reliably",
    severity=Severity.HEADS_UP,
    sources=(rule(10),),
)
def deep_nesting(tools: tuple[Tool, ...], policy: Policy) -> Iterator[Found]:
    """How many levels a tool's input has: more than three is too deep.

    The root object is level 1; every object and every step into an array's items adds one. `anyOf`,
    `oneOf`, `allOf` and local references add none by themselves; a schema that contains itself has no end.

    Why it matters:
        Agents fill in flat arguments well. The deeper they must nest, the more often a key lands one level
        too high or a level is left out, and validation errors about inner levels rarely tell them how to do
        better.

    How to fix it:
        Flatten: bring inner fields up with longer names, or split the tool into one that creates and one
        that adds details. For a tree that really is one, take a list of rows with a parent field.
    """
    for tool in tools:
        if tool.levels > policy.max_nesting:
            yield Found(
                code="too-deep",
                subject=tool.subject,
                message="The input nests deeper than agents fill in reliably.",
                expected=f"at most {policy.max_nesting} levels",
                measured=f"{tool.levels} levels" if tool.levels < MAX_LEVEL else "levels without end",
                pointer="/inputSchema",
            )


@check(
    id="schema/additionalProperties-strict",
    title="A schema refuses every key it does not name",
    severity=Severity.HEADS_UP,
    sources=(rule(11),),
)
def additional_properties_strict(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """`additionalProperties: false` anywhere in an input schema, its unused definitions included.

    Tools without parameters are exempt: for them that form is the one the specification recommends.

    Why it matters:
        Models like to say more than they were asked, and put it into a key of their own. A strict schema
        bounces the whole call for it, the agent tries again with another such key, and one harmless habit
        becomes a burst of failed calls.

    How to fix it:
        Leave the keyword out and ignore keys that you do not know. Some frameworks write it by themselves;
        then it is one setting for all tools. Where it must stay, answer with a sentence that names the extra
        key, so that the agent can leave it out.
    """
    for tool in tools:
        strict = [place for place in tool.places if _is_strict(place.schema)]
        if strict and tool.parameters:
            yield Found(
                code="strict",
                subject=tool.subject,
                message="Calls with a key that the schema does not name are refused.",
                expected="additionalProperties absent or true",
                measured="additionalProperties: false"
                if len(strict) == 1
                else f"additionalProperties: false in {len(strict)} places",
                pointer=f"{strict[0].pointer}/additionalProperties",
            )


@check(
    id="schema/not-an-object",
    title="An input schema is not one that clients can read",
    severity=Severity.WILL_BREAK,
    sources=(OWN,),
)
def not_an_object(tools: tuple[Tool, ...], revision: str) -> Iterator[Found]:
    """Input schemas that are not an object schema, and subschemas that are a boolean or no schema at all.

    Why it matters:
        Every revision wants `"type": "object"` at the root of an input schema. The
        official SDKs drop the whole list otherwise, without a word, and until 2025-11-25 also where a
        parameter's schema is a text or a number. A `true` in its place is legal, and still clients have lost
        every tool of a server over a single one.

    How to fix it:
        Write `"type": "object"` at the root, also around an `anyOf`, and give every parameter a schema with
        a type. When all tools lost their schemas at once, a dependency was upgraded: look at its release
        notes.
    """
    for tool in tools:
        found = malformed(tool, revision)
        if found is not None:
            yield found


@check(
    id="schema/invalid",
    title="A schema breaks the rules of JSON Schema",
    severity=Severity.WILL_BREAK,
    sources=(OWN,),
)
def invalid(tools: tuple[Tool, ...], revision: str) -> Iterator[Found]:
    """Keywords with a value that they cannot have, unknown types, references to nothing or without an end.

    Input and output schemas are judged by the dialect that they declare, and a part by one of its own;
    without one as 2020-12, and before revision 2025-11-25, which says nothing of dialects, as any draft from
    04 on. What a dialect ignores, such as the neighbours of a `$ref` until draft-07, is not judged. Unknown
    keywords are allowed. A reference that leads back to itself before anything of the input is looked at is
    one without an end. A regular expression that only other engines than ECMA-262's read is a risk, and so
    is a dialect that is none of JSON Schema's.

    Why it matters:
        Clients hand the schema on as it is. The interfaces of models refuse a request that has one such
        schema among its tools, so the agent fails with all of them; validators refuse to compile it. Where
        `properties` or `required` of the whole are of another type, clients on the official SDKs drop the
        whole list.

    How to fix it:
        Let a library write the schema, or validate it against the metaschema of its dialect in your tests.
        Leave a keyword out instead of setting it to null, list the required names at the object that has
        the properties, and bring definitions along with the references to them.
    """
    for tool in tools:
        found = broken(tool, revision)
        if found is not None:
            yield found


@check(
    id="schema/external-reference",
    title="A schema refers to another document, which clients do not fetch",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    eras=(Era.MODERN,),
)
def external_reference(tools: tuple[Tool, ...], revision: str) -> Iterator[Found]:
    """References of a tool's schemas to another document, at 2026-07-28; earlier revisions have no rule.

    What the schema brings along under that `$id` is not elsewhere, and neither is a metaschema of JSON
    Schema. Nothing is fetched.

    Why it matters:
        A client must not fetch what a schema refers to, since the address may be one of its own network, and
        should refuse a schema that it cannot judge without. The model sees no more of that parameter than
        its name, and validators refuse to compile the whole.

    How to fix it:
        Bring the definition along under `$defs` and refer to it there; libraries call that bundling.
    """
    for tool in tools:
        parts = elsewhere(tool, revision)
        if parts:
            yield Found(
                code="external",
                subject=tool.subject,
                message="A schema needs another document, which clients of 2026-07-28 must not fetch.",
                expected="references within the schema",
                measured=listed([shown(part.reference, 80) for part in parts], 3),
                pointer=f"{parts[0].pointer}/$ref",
            )


@check(
    id="schema/x-mcp-header",
    title="A parameter's x-mcp-header breaks the rules, so clients drop the tool",
    severity=Severity.WILL_BREAK,
    sources=(OWN,),
    eras=(Era.MODERN,),
)
def x_mcp_header(tools: tuple[Tool, ...]) -> Iterator[Found]:
    """The `x-mcp-header` annotations of 2026-07-28: a header name for a plain parameter, once per tool.

    Why it matters:
        The annotation asks clients to repeat an argument in an HTTP header. A conforming client must leave
        out a tool whose annotation it cannot follow: the tool is in your list and in nobody's agent.

    How to fix it:
        Give each annotation a name of its own made of letters, digits and hyphens, and put it only on
        string, integer or boolean parameters that are reached through `properties` alone: not inside items,
        not inside anyOf, not behind a reference.
    """
    for tool in tools:
        annotated = [
            place
            for place in tool.places
            if place.used and isinstance(place.schema, dict) and "x-mcp-header" in place.schema
        ]
        for place in annotated:
            fault = _header_fault(place, annotated)
            if fault is not None:
                code, measured = fault
                yield Found(
                    code=code,
                    subject=tool.subject,
                    message="An x-mcp-header breaks the rules: conforming clients leave the tool out.",
                    expected="a unique header name on a plain string, integer or boolean parameter",
                    measured=measured,
                    pointer=f"{place.pointer}/x-mcp-header",
                )
                break


def _promise(name: str) -> str | None:
    """The format that a parameter's name promises: that of its last telling word."""
    words = [word.lower() for word in _TOKEN.findall(name)]
    return next((SEMANTIC_NAMES[word] for word in reversed(words) if word in SEMANTIC_NAMES), None)


def _is_bare_string(schema: Json, root: Json) -> bool:
    """Whether a parameter is a string, perhaps null, about which the schema says nothing more."""
    nodes = json_schema.alternatives(schema, root)
    kinds = set().union(*(json_schema.types(node) for node in nodes))
    settled = any(key in node for node in nodes for key in ("format", "enum", "const"))
    return "string" in kinds and kinds <= {"string", "null"} and not settled


def _is_strict(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("additionalProperties") is False


def _header_fault(place: Place, annotated: list[Place]) -> tuple[str, str] | None:
    header = place.schema["x-mcp-header"]
    if not isinstance(header, str) or not _HEADER_NAME.fullmatch(header):
        return "name", f"{shown(header, 40)} is not a header name"
    others = Counter(str(other.schema["x-mcp-header"]).lower() for other in annotated)
    if others[header.lower()] > 1:
        return "duplicate", f"{shown(header, 40)} is used more than once"
    if json_schema.types(place.schema) not in _HEADER_TYPES:
        return "type", f"the parameter is {shown(place.schema.get('type'), 40)}"
    if not place.plain or place.kind != "properties":
        return "place", "the parameter is not reached through properties alone"
    return None
