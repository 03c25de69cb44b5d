"""The protocol itself: revisions, eras, and the shape of the messages."""

import itertools
from collections.abc import Iterator

from driftwatch.checks import eras, handshake
from driftwatch.checks.answers import answered, refuses
from driftwatch.checks.base import Found, NotChecked, Policy, Verdict, check, listed, once, shown
from driftwatch.checks.clients import Client
from driftwatch.checks.messages import envelope_faults, text_faults
from driftwatch.checks.reads import Comparison
from driftwatch.checks.replies import is_no_message
from driftwatch.checks.results import result_faults
from driftwatch.checks.sources import OWN, rule
from driftwatch.evidence import Exchange, FurtherList, Listing, Missing, Opening, Surface
from driftwatch.model import KNOWN_REVISIONS, MODERN_REVISION, Era, Severity, position


@check(
    id="mcp/protocol-version",
    title="The negotiated revision shuts some clients out",
    severity=Severity.HEADS_UP,
    sources=(rule(3),),
)
def protocol_version(
    revision: str, era: Era, surfaces: tuple[Surface, ...], policy: Policy
) -> Iterator[Found]:
    """The revision that the server settles on: does it exist, and is there a client too new for it.

    A revision that is newer than a client is no finding: in `initialize` both sides go down to what they
    share. 2026-07-28 has no `initialize`, so that answering it with 2026-07-28 fails. A client that reaches
    the server in its other era is not counted as shut out.

    Why it matters:
        A client that does not know the revision ends the handshake there. Its user sees a connector that
        never connects; the server sees one request and nothing after it.

    How to fix it:
        Serve a newer revision beside the old one, or accept that the named clients cannot connect. If the
        revision is not a real one, look for a typing error in the server's version constant. Answer
        `initialize` with the newest revision that has it, and 2026-07-28 in `server/discover` alone.
    """
    if revision == MODERN_REVISION and era is not Era.MODERN:
        yield _no_handshake(surfaces, policy)
        return
    if revision not in KNOWN_REVISIONS:
        yield Found(
            code="unknown-revision",
            subject="protocolVersion",
            message=f"Revision {shown(revision, 40)} is not one that this driftwatch knows.",
            expected=f"one of {', '.join(KNOWN_REVISIONS)}",
            measured=shown(revision, 40),
        )
        return
    others = [
        surface.revision for surface in surfaces if surface.era is not era and not _is_mixed_up(surface)
    ]
    shut_out = [
        client
        for client in policy.clients
        if position(revision) < position(client.oldest)
        and not any(_speaks(client, other) for other in others)
    ]
    if shut_out:
        names = tuple(client.name for client in shut_out)
        yield Found(
            code="too-old",
            subject="protocolVersion",
            message=f"Revision {revision} is older than anything that {listed(names)} can speak.",
            expected=f"{min((client.oldest for client in shut_out), key=position)} or newer",
            measured=revision,
            clients=names,
        )


@check(
    id="mcp/era-coverage",
    title="One era of clients is left out, or sees other tools",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
)
def era_coverage(
    openings: tuple[Opening, ...] | Missing,
    surfaces: tuple[Surface, ...],
    compared: Comparison,
    blocker: Missing,
    *,
    known_eras: frozenset[Era],
    policy: Policy,
) -> Verdict:
    """Whether clients with `initialize` and clients of 2026-07-28 both get in, and see the same tools.

    Where several reads of one list disagree, nothing is said about the eras' lists.

    Why it matters:
        Clients of the older era have no way forward to a server that speaks 2026-07-28 alone: they fail.
        And where a server speaks both, each client reads the list of its own era; a tool that is in one
        list only is missing for half of your users.

    How to fix it:
        Keep answering `initialize` until the clients you care about have moved; the official SDKs serve
        both eras from one tool registry. Where the lists differ, look for a tool that is registered in one
        handler. Where headers are lost, let the proxy pass every `Mcp-` header on unchanged. Where
        server/discover is forbidden, let the gateway's rule pass it, or answer 404. Where 2026-07-28 is
        refused, list what is really spoken in the error's `supported`.
    """
    if not surfaces:
        return NotChecked.of(blocker)
    unlike = list(eras.unlike_lists(surfaces))
    doubt = next(iter(compared.in_doubt.values()), None) if unlike else None
    found = [*(() if doubt else unlike), *eras.thrown_back(openings, surfaces)]
    if doubt and not found:
        return NotChecked.of(doubt)
    spoken = {surface.era for surface in surfaces}
    tried = {} if isinstance(openings, Missing) else {opening.era: opening.exchange for opening in openings}
    if spoken == {Era.MODERN}:
        refusal = tried.get(Era.LEGACY)
        if refusal is None or not refuses(refusal):
            return NotChecked(eras.unclear("initialize", refusal), "initialize-unclear")
        found += eras.left_out(refusal, policy)
    # A server that never spoke it may answer anything, 500 too, and is for clients of both eras.
    if Era.MODERN in known_eras - spoken and not found:
        refusal = tried.get(Era.MODERN)
        if refusal is None or not refuses(refusal):
            return NotChecked(eras.unclear("server/discover", refusal), "discover-unclear")
    return found or eras.forbidden(tried.get(Era.MODERN))


@check(
    id="mcp/negotiation",
    title="A newer revision is refused instead of answered with an older one",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    eras=(Era.LEGACY,),
)
def negotiation(openings: tuple[Opening, ...] | Missing, revision: str, policy: Policy) -> Iterator[Found]:
    """What initialize gets at a revision that is newer than the server: the newest one that it speaks.

    Why it matters:
        A client offers its newest revision, once. A server that does not know it answers with its own, and
        the two go on with that. A refusal ends the connection: most clients do not try again with an older
        revision, so a server that has worked for a year fails as soon as its users update.

    How to fix it:
        Answer every unknown revision with your newest, and let the client decide. Look at validation that
        runs before the handler and takes the revision for one of a fixed list.
    """
    for opening in () if isinstance(openings, Missing) else openings:
        refusal = _refused_for_its_revision(opening)
        if refusal is None:
            continue
        names = tuple(one.name for one in policy.clients if position(one.newest) > position(revision))
        yield Found(
            code="refused",
            subject="initialize",
            message="A revision that the server does not know is refused.",
            expected=f"an answer that offers {revision[:40]}",
            measured=answered(refusal),
            clients=names,
        )


@check(
    id="mcp/initialized-ack",
    title="The acknowledgement of the handshake is answered in a way that some clients reject",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    eras=(Era.LEGACY,),
    root=True,
)
def initialized_ack(
    acknowledgement: Exchange | None,
    session: bool,  # noqa: FBT001 - a part's name
    listing: Listing | Missing,
) -> Verdict:
    """The reply to notifications/initialized: 202 with an empty body.

    Why it matters:
        The handshake ends with a notification, and a notification has no answer. Some clients stop right
        there when a 200 or a body comes back, others do not notice: the server works in your client and not
        in your user's. After a server error, or when no reply comes, the official SDKs give up.

    How to fix it:
        Answer every notification with 202 and no body at all, also not `null` or `{}`. Where the session is
        lost, let proxies pass `Mcp-Session-Id` in both directions, and send all requests of a session to the
        instance that began it.
    """
    if acknowledgement is None:
        return NotChecked("notifications/initialized was not sent", "no-reply")
    return handshake.judge(acknowledgement, listing, session=session)


@check(
    id="mcp/envelope",
    title="Answers break the rules of JSON-RPC",
    severity=Severity.WILL_BREAK,
    sources=(OWN,),
    root=True,
)
def envelope(answers: tuple[Exchange, ...], revision: str, era: Era) -> Verdict:
    """The frame around every answer: "jsonrpc": "2.0", its id, one message at a time, a result or an error.

    Why it matters:
        A client finds the answer to its request by the id. When a gateway turns 2 into "2", or wraps the
        answer in an array, lenient clients go on and strict ones wait until they time out. The official SDKs
        drop an answer that is not JSON-RPC 2.0 to the letter, and what an error meant to say is lost.

    How to fix it:
        Copy the request's id unchanged, value and type, and send exactly one object that has "jsonrpc": "2.0"
        and either a result or an error; an error has an integer code and a text as its message. Look at
        gateways, caches and logging layers between: they are what rewrites envelopes, or repeats old ones.
    """
    return once(envelope_faults(answers, revision, era))


@check(
    id="mcp/result",
    title="A result lacks what its revision requires",
    severity=Severity.WILL_BREAK,
    sources=(OWN,),
)
def result(
    exchanges: tuple[Exchange, ...], further: tuple[FurtherList, ...], revision: str, era: Era
) -> Verdict:
    """The members of the results of initialize, server/discover and every list that is read, and their types.

    `resultType`, `ttlMs` and `cacheScope` are required since 2026-07-28, `capabilities` and `serverInfo` in
    every answer to initialize.

    Why it matters:
        The official SDKs validate a result before anything else looks at it. One that lacks a member is no
        result to them: the client does not connect, or has no tools, and a lenient one beside it works.

    How to fix it:
        Let an SDK build the results, or validate them against the schema of the revision that was negotiated.
        Leave a member out instead of setting it to null: on the last page there is no `nextCursor` at all.
    """
    lists = [each.listing for each in further if not isinstance(each.listing, Missing)]
    pages = tuple(page for listing in lists for page in listing.exchanges)
    return once(result_faults((*exchanges, *pages), revision, era))


@check(
    id="mcp/message-text",
    title="Messages are not strict JSON in UTF-8",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    root=True,
)
def message_text(answers: tuple[Exchange, ...], era: Era) -> Verdict:
    """The bytes of every reply, read strictly: UTF-8, JSON, and the framing of HTTP and event streams.

    Why it matters:
        Parsers forgive different things. Python takes a byte order mark that a browser refuses, one parser
        keeps the first of two equal members and the next one the last: two clients read two different
        servers.

    How to fix it:
        Let a JSON library write every message, from values and not from pieces of text, and let the HTTP
        server compute the length.
    """
    found = once(text_faults(answers, era))
    other = None if found else next((each for each in answers if is_no_message(each, era)), None)
    if other is None:
        return found
    reason = f"{other.rpc_method or other.label} is answered with {other.media_type} (transport/content-type)"
    return NotChecked(reason, "content-type", "transport/content-type")


def _speaks(client: Client, revision: str) -> bool:
    known = revision in KNOWN_REVISIONS
    return known and position(client.oldest) <= position(revision) <= position(client.newest)


def _is_mixed_up(surface: Surface) -> bool:
    """Whether initialize settled on the revision that has none."""
    return surface.era is not Era.MODERN and surface.revision == MODERN_REVISION


def _no_handshake(surfaces: tuple[Surface, ...], policy: Policy) -> Found:
    modern = any(surface.era is Era.MODERN for surface in surfaces)
    return Found(
        severity=Severity.WILL_BREAK,
        code="no-handshake-revision",
        subject="protocolVersion",
        message=f"initialize is answered with {MODERN_REVISION}, which has no initialize: clients on the "
        "official SDKs end the connection there.",
        expected="2025-11-25, or an older revision",
        measured=MODERN_REVISION,
        clients=tuple(one.name for one in policy.clients if not (modern and _speaks(one, MODERN_REVISION))),
    )


def _refused_for_its_revision(opening: Opening) -> Exchange | None:
    """The first initialize after which another revision was offered."""
    pairs = itertools.pairwise(opening.attempts) if opening.era is Era.LEGACY else ()
    return next((one for one, other in pairs if other.label.rpartition(":")[2] in KNOWN_REVISIONS), None)
