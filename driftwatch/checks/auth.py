"""Authorization: how a client without a token is turned away, and whether ours is taken."""

from collections.abc import Iterator
from http import HTTPStatus

from driftwatch.checks.answers import DOORS, REDIRECTION, answered, ok, unheard
from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check, once, shown
from driftwatch.checks.protected_resource import (
    is_document,
    is_unclear,
    judge,
    seen,
    split,
)
from driftwatch.checks.sources import OWN, item
from driftwatch.checks.transport import REFUSES_CREDENTIAL
from driftwatch.evidence import (
    ANONYMOUS,
    CREDENTIAL_ECHO,
    NO_AUTHORIZATION,
    URL_ECHO,
    URL_MARK,
    Authorization,
    Exchange,
    Listing,
    Metadata,
    Missing,
    Opening,
    Outcome,
    Surface,
)
from driftwatch.model import MODERN_REVISION, Depth, Severity, position

CHALLENGE = "WWW-Authenticate"
HEADER_IS_A_MUST = "2025-06-18"
"""The one revision in which the challenge has to name the metadata; later ones leave a choice."""

_CLOSED = frozenset({"auth", "forbidden"})
"""The answers in which a token that is refused is just that."""


@check(
    id="auth/challenge",
    title="Clients without a token are not told how to get one",
    severity=Severity.WILL_BREAK,
    sources=(item(6),),
)
def challenge(authorization: Authorization, surfaces: tuple[Surface, ...]) -> Verdict:
    """The refusal of a request without a token: its status, and its WWW-Authenticate header.

    In revision 2025-06-18 the header has to name the protected-resource metadata. Later revisions leave a
    choice between the header and the well-known address, so that a missing header is a risk where the
    address answers, and a failure where it does not.

    The sign-in page of an access gate in front is not the server's refusal, and neither is a password prompt
    for browsers (Basic) without JSON beside it: transport/endpoint tells of them.

    Why it matters:
        A client starts the sign-in when it sees 401, and learns from the header where tokens come from. With
        403, a redirect to a login page or a bare 401, many clients show an error instead of a sign-in, and
        nobody new can connect.

    How to fix it:
        Answer every request without a valid token with 401 and
        `WWW-Authenticate: Bearer resource_metadata="https://…/.well-known/oauth-protected-resource/…"`.
        Where a gateway does the sign-in for browsers, let it answer the MCP route with 401 instead of a
        redirect.
    """
    reply = authorization.refusal
    if reply.status in REDIRECTION:
        return [_login_page(reply)]
    if reply.status != HTTPStatus.UNAUTHORIZED:
        return [_wrong_status(reply)]
    if authorization.bearer is None:
        return _without_bearer(authorization, _revision(surfaces))
    return [*_of_bearer(authorization, _revision(surfaces))]


@check(
    id="auth/resource-metadata",
    title="The metadata that say where tokens come from cannot be used",
    severity=Severity.WILL_BREAK,
    sources=(item(6),),
    depth=Depth.FULL,
)
def resource_metadata(authorization: Authorization, surfaces: tuple[Surface, ...]) -> Verdict:
    """The protected-resource metadata (RFC 9728) of a server that asks for credentials.

    It is looked for as clients do: at the address that the challenge names, at the well-known address with
    the endpoint's path, at the one without. Any refusal (4xx) leads on to the next, a server error does not;
    the first that answers decides. `resource` has to be the endpoint's URL, and `authorization_servers` has
    to name one. Addresses on other hosts or ports are not fetched.

    Why it matters:
        This document is the only way from your server to its sign-in. A client that does not find it, or
        finds that it speaks of another resource, stops there: it must not send a token to a server that the
        token was not made for.

    How to fix it:
        Serve JSON with `resource` (the very URL that you publish, last slash included) and at least one entry
        in `authorization_servers` at `/.well-known/oauth-protected-resource` followed by the endpoint's path,
        without authentication, and name that address in the challenge.

        Where HTML comes back, a web application answers every unknown path: exempt `/.well-known/` from it.
    """
    looked = authorization.metadata
    if isinstance(looked, Missing):
        return NotChecked.of(looked)
    if position(_revision(surfaces)) < position(HEADER_IS_A_MUST):
        return _before_rfc_9728(looked, _revision(surfaces))
    return judge(looked, authorization.resource)


@check(
    id="auth/invalid-token",
    title="An invalid token is not answered with 401",
    severity=Severity.WILL_BREAK,
    sources=(item(6),),
    depth=Depth.FULL,
)
def invalid_token(authorization: Authorization) -> Verdict:
    """The answer of a server that asks for credentials to a token that cannot be valid.

    Why it matters:
        Tokens expire. A client renews its token when it sees 401, and only then: with 403 it gives up, and
        with 200 anyone is let in with any token at all.

    How to fix it:
        Answer a token that is missing, unknown or expired with 401, and keep 403 for a valid token without
        the scope. If the answer is a result, the token is not verified: treat that as an open door.
    """
    reply = authorization.invalid_token
    if isinstance(reply, Missing):
        return NotChecked.of(reply)
    if reply.status == HTTPStatus.UNAUTHORIZED:
        return ()
    silence = unheard(reply)
    if silence is not None and silence.code not in _CLOSED:
        return NotChecked(f"the request with an invalid token was not answered: {seen(reply)}", "unclear")
    code, message = (
        "wrong-status",
        "An invalid token is refused, but not with the status that clients act on.",
    )
    if ok(reply) and reply.result is not None:
        code, message = "accepted", "An invalid token opens the server."
    elif reply.status == HTTPStatus.FORBIDDEN:
        code, message = "forbidden", "An invalid token gets 403: clients do not renew their token for that."
    return [
        Found(
            code=code,
            subject="Authorization",
            message=message,
            expected="HTTP 401",
            measured=answered(reply) if ok(reply) else seen(reply),
        )
    ]


@check(
    id="auth/credential",
    title="driftwatch's own credential is not accepted",
    severity=Severity.WILL_BREAK,
    sources=(item(6),),
    root=True,
)
def credential(
    credential: str,
    outcome: Outcome,
    surfaces: tuple[Surface, ...],
    authorization: Authorization | Missing,
) -> Verdict:
    """Whether the server takes the credential that is configured for this probe.

    Why it matters:
        Without it driftwatch sees the door and nothing behind it. The credential is also a fair model of
        those of your users: when it expires or is revoked, theirs may have been too.

    How to fix it:
        Renew the token, the client's secret or the client certificate where it is configured; a file is read
        again before every probe once it has changed. For OAuth, the measured answer of the token endpoint
        names what is wrong.
    """
    if outcome.code == "certificate-file":
        what = "A certificate file that driftwatch was given cannot be used."
        return [_own(credential, outcome.code, what, "PEM files that can be read", outcome.message)]
    if credential == ANONYMOUS:
        return NotChecked("no credential is configured", "no-credential")
    if outcome.code == "token":
        return [_own(credential, "token", "There is no token to probe with.", "a token", outcome.message)]
    refused = [page for page in _pages(surfaces) if page.status in DOORS]
    if outcome.code == REFUSES_CREDENTIAL:
        return [_refused(credential, outcome.status, outcome.message)]
    if refused:
        return [_refused(credential, refused[0].status, f"HTTP {refused[0].status} to tools/list")]
    if not surfaces:
        return NotChecked.of(outcome.blocker)
    if authorization == NO_AUTHORIZATION:
        return Verified("the server answers without a credential too")
    return ()


@check(
    id="auth/credential-echo",
    title="A credential comes back in what the server answers",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    depth=Depth.FULL,
)
def credential_echo(
    credential: str, url: str, openings: tuple[Opening, ...] | Missing, surfaces: tuple[Surface, ...]
) -> Verdict:
    """Every answer to a request that carried the configured credential, searched for it.

    The token, the secret of an OAuth client, and whatever looks like a secret among the `headers` and in the
    URL's query are looked for as they are, URL-encoded and in base64. The report has a label in their place,
    and the rules about names and texts do not judge that label.

    Why it matters:
        Whatever a server lists goes into models' contexts, into the logs of clients and into caches. A
        credential that stands in a tool's name or description, in an error or in a header is kept in all of
        them, and works for whoever reads it there.

    How to fix it:
        Take the credential out of the answer: look at debugging output, at descriptions that are made from
        the request, and at error pages that repeat its headers. Then renew it.
    """
    if credential == ANONYMOUS and "?" not in url:
        return NotChecked("no credential is configured", "no-credential")
    if isinstance(openings, Missing):
        return NotChecked.of(openings)
    secrets = {
        CREDENTIAL_ECHO: (f"<{credential}>", "The answer holds the credential that the request came with."),
        URL_ECHO: (URL_MARK, "The answer holds a secret of the URL that the request went to."),
    }
    heard = [(opening.era, attempt) for opening in openings for attempt in opening.attempts]
    heard += [(surface.era, exchange) for surface in surfaces for exchange in surface.heard]
    return once(
        Found(
            code="echoed",
            subject=exchange.rpc_method or exchange.label,
            message=secrets[remark.code][1],
            expected="an answer without it",
            measured=f"{secrets[remark.code][0]} {remark.message}",
            era=era,
        )
        for era, exchange in heard
        for remark in exchange.remarks
        if remark.code in secrets
    )


def _revision(surfaces: tuple[Surface, ...]) -> str:
    """The newest revision that the server is known to speak; without any, it is judged as the current one."""
    return max((surface.revision for surface in surfaces), key=position, default=MODERN_REVISION)


def _login_page(reply: Exchange) -> Found:
    return Found(
        code="login-redirect",
        subject=CHALLENGE,
        message="A client without a token is sent to a login page, which only a browser can use.",
        expected="HTTP 401 with a challenge",
        measured=f"HTTP {reply.status} to {(reply.header('location') or '')[:200]}: not followed",
    )


def _wrong_status(reply: Exchange) -> Found:
    return Found(
        code="wrong-status",
        subject=CHALLENGE,
        message="A client without a token is refused, but not with the status that starts a sign-in.",
        expected="HTTP 401 with a challenge",
        measured=answered(reply) if ok(reply) else seen(reply),
    )


def _without_bearer(authorization: Authorization, revision: str) -> Verdict:
    sent = authorization.refusal.header("www-authenticate")
    severity: Severity | None = None
    if position(revision) > position(HEADER_IS_A_MUST):
        looked = authorization.metadata
        if isinstance(looked, Missing):
            return NotChecked.of(looked)
        known = any(is_document(each) or is_unclear(each) for each in looked)
        severity = Severity.HEADS_UP if known else None
    elif position(revision) < position(HEADER_IS_A_MUST):
        severity = Severity.HEADS_UP  # HTTP's own rule, and not yet the protocol's
    found = Found(
        severity=severity,
        code="absent" if sent is None else "no-bearer",
        subject=CHALLENGE,
        message="The refusal does not say how to get a token."
        if sent is None
        else "The refusal asks for something that is no Bearer token.",
        expected='Bearer resource_metadata="…"',
        measured="no such header" if sent is None else shown(sent, 120),
    )
    return [found]


def _of_bearer(authorization: Authorization, revision: str) -> Iterator[Found]:
    if authorization.malformed is not None:
        yield Found(
            severity=Severity.HEADS_UP,
            code="malformed",
            subject=CHALLENGE,
            message="The header is not written as HTTP prescribes: strict clients read nothing from it.",
            expected='name="value" pairs after the scheme, separated by commas',
            measured=shown(authorization.malformed),
        )
    bearer = authorization.bearer
    named = None if bearer is None else bearer.parameter("resource_metadata")
    if named is None and position(revision) >= position(HEADER_IS_A_MUST):
        yield Found(
            severity=None if revision == HEADER_IS_A_MUST else Severity.HEADS_UP,
            code="no-metadata-url",
            subject=CHALLENGE,
            message="The challenge does not name the metadata: clients have to guess where they are.",
            expected='resource_metadata="https://…"',
            measured=shown(authorization.refusal.header("www-authenticate") or "", 120),
        )
    elif named is not None and split(named) is None:
        yield Found(
            code="bad-metadata-url",
            subject=CHALLENGE,
            message="The challenge names an address that clients cannot ask.",
            expected="an absolute https URL",
            measured=shown(named, 120),
        )


def _before_rfc_9728(looked: tuple[Metadata, ...], revision: str) -> NotChecked:
    seen = any(each.place == "rfc8414" and is_document(each) for each in looked)
    what = "seen" if seen else "not seen"
    reason = f"RFC 9728 did not exist at revision {revision:.40}; the root document of RFC 8414 was {what}"
    return NotChecked(reason, "older-revision")


def _own(label: str, code: str, message: str, expected: str, measured: str) -> Found:
    return Found(code=code, subject=label, message=message, expected=expected, measured=measured)


def _refused(label: str, status: int | None, measured: str) -> Found:
    code = "refused" if status == HTTPStatus.UNAUTHORIZED else "forbidden"
    return _own(label, code, f"{status} with our credential.", "an answer to the request", measured)


def _pages(surfaces: tuple[Surface, ...]) -> list[Exchange]:
    listings = [surface.listing for surface in surfaces if isinstance(surface.listing, Listing)]
    return [page for listing in listings for page in listing.exchanges]
