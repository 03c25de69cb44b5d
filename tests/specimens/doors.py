"""Faults of the HTTP in front: status codes, content types, redirects, refusals."""

from collections.abc import Callable
from dataclasses import dataclass

from driftwatch.model import Era, State
from tests.specimens.healthy import MODERN_ONLY
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, as_sse, page_html, refusal
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen


def _content_type(value: str | None, method: str | None = None) -> Callable[[], Mcp]:
    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if answer.status != 200 or incoming.method != "POST" or method not in {None, incoming.rpc_method}:
            return answer
        return answer.with_header("Content-Type", value)

    return lambda: Mcp(after=changed)


def _always(answer: Answer) -> Callable[[], Mcp]:
    return lambda: Mcp(before=lambda _, __: answer)


def _mislabelled_initialize() -> Mcp:
    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "initialize":
            return answer
        return answer.but(body=as_sse(answer.body.decode()).body)

    return Mcp(after=changed, sessions=False)


def _refuses_sse(status: int) -> Callable[[], Mcp]:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return Answer(status=status) if "text/event-stream" in incoming.headers.get("accept", "") else None

    return lambda: Mcp(before=before)


@dataclass
class _Times:
    """Answers otherwise the first few times it is asked."""

    answer: Answer
    times: int = 1

    def __call__(self, _: Mcp, __: Incoming) -> Answer | None:
        self.times -= 1
        return self.answer if self.times >= 0 else None


def _redirect(status: int, location: str) -> Answer:
    return Answer(status=status, headers=(("Location", location),))


def _slash(status: int, location: str = "/mcp/") -> Callable[[], Mcp]:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return _redirect(status, location) if incoming.path == "/mcp" else None

    return lambda: Mcp(before=before)


def _redirected_list() -> Mcp:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        moved = incoming.rpc_method == "tools/list" and incoming.path == "/mcp"
        return _redirect(307, "/v2/mcp") if moved else None

    return Mcp(before=before)


def _answered_list(answer: Answer) -> Callable[[], Mcp]:
    return lambda: Mcp(before=lambda _, asked: answer if asked.rpc_method == "tools/list" else None)


def _refused_list() -> Mcp:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method != "tools/list":
            return None
        return refusal(incoming.rpc, -32603, "internal error", status=200)

    return Mcp(before=before)


def _shut(
    name: str,
    deviation: str,
    answer: Answer,
    code: str,
    state: State = NOT_CHECKED,
    **auth: tuple[State, str],
) -> Specimen:
    """A server of which nothing but the door is seen; ``auth`` is what is said of that, check by check."""
    return Specimen(
        name=name,
        deviation=deviation,
        make=_always(answer),
        eras=(),
        expect={
            "transport/endpoint": (state, code),
            **{f"auth/{check.replace('_', '-')}": result for check, result in auth.items()},
        },
        blocked=code,
    )


HTML = ("Content-Type", "text/html")
IMPERVA = (
    b'<html><head><META NAME="robots" CONTENT="noindex,nofollow">'
    b'<script src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e"></script></head></html>'
)
CHALLENGED = page_html("Just a moment...", status=200).with_header("cf-mitigated", "challenge")

CHALLENGE = (("WWW-Authenticate", 'Bearer realm="mcp"'),)

CONTENT_TYPES = (
    Specimen(
        name="content-type-text-plain",
        deviation="replies are text/plain",
        make=_content_type("text/plain; charset=utf-8"),
        expect={"transport/content-type": (FAILED, "wrong")},
    ),
    Specimen(
        name="content-type-absent",
        deviation="replies have no Content-Type",
        make=_content_type(None),
        expect={
            "transport/content-type": (FAILED, "absent"),
            "mcp/message-text": (RISK, "no-content-type"),
        },
    ),
    Specimen(
        name="content-type-lookalike",
        deviation="application/json-rpc, which merely begins like a right one",
        make=_content_type("application/json-rpc"),
        expect={"transport/content-type": (FAILED, "wrong")},
    ),
    Specimen(
        name="content-type-odd-but-right",
        deviation="upper case, a charset",
        make=_content_type("Application/JSON; Charset=UTF-8"),
    ),
    Specimen(
        name="content-type-doubled",
        deviation="the type twice in one header",
        make=_content_type("application/json, application/json"),
    ),
    Specimen(
        name="content-type-list",
        deviation="tools/list alone is text/plain",
        make=_content_type("text/plain", "tools/list"),
        expect={"transport/content-type": (FAILED, "wrong")},
    ),
    Specimen(
        name="html-list",
        deviation="a web page in answer to tools/list",
        make=lambda: Mcp(
            before=lambda _, asked: (
                page_html("Home", status=200) if asked.rpc_method == "tools/list" else None
            )
        ),
        expect={
            "tools/pagination": (FAILED, "json"),
            "transport/content-type": (FAILED, "html"),
            "mcp/message-text": (FAILED, "json"),
            "session/ended": (NOT_CHECKED, "same-answer"),
        },
        blocked="incomplete-list",
    ),
    *(
        Specimen(
            name=f"empty-list-{status}",
            deviation=f"tools/list is answered with HTTP {status} and nothing else",
            make=_answered_list(Answer(status=status)),
            expect={
                "tools/pagination": (FAILED, "no-answer"),
                "session/ended": (NOT_CHECKED, "same-answer"),
            },
            blocked="incomplete-list",
        )
        for status in (200, 202, 204)
    ),
    Specimen(
        name="refused-list",
        deviation="tools/list is answered with an internal error, in every session",
        make=_refused_list,
        expect={
            "tools/pagination": (FAILED, "page-error"),
            "session/ended": (NOT_CHECKED, "same-answer"),
        },
        blocked="incomplete-list",
    ),
    Specimen(
        name="html-200",
        deviation="a web page with status 200 instead of any answer",
        make=_always(page_html("Welcome", status=200)),
        eras=(),
        expect={
            "transport/endpoint": (FAILED, "not-mcp"),
            "transport/content-type": (FAILED, "html"),
            "transport/redirect": VERIFIED,
            "transport/accept-sse": VERIFIED,
        },
        blocked="not-mcp",
    ),
    Specimen(
        name="accept-406",
        deviation="406 to every Accept that lists an event stream",
        make=_refuses_sse(406),
        expect={
            "transport/accept-sse": (FAILED, "refused"),
            "transport/get": (NOT_CHECKED, "accept-refused"),
        },
    ),
    Specimen(
        name="accept-415",
        deviation="415 to every Accept that lists an event stream",
        make=_refuses_sse(415),
        expect={
            "transport/accept-sse": (FAILED, "refused"),
            "transport/get": (NOT_CHECKED, "accept-refused"),
        },
    ),
)


def _gate(name: str, deviation: str, status: int, *headers: tuple[str, str], page: str = "") -> Specimen:
    """An access gate that is told as such, and not as the server's own refusal."""
    answer = Answer(status=status, headers=(HTML, *headers), body=page.encode())
    return _shut(f"gate-{name}", deviation, answer, "access-gate")


BASIC = ("WWW-Authenticate", 'Basic realm="Restricted"')
NGINX = (
    "<html><head><title>401 Authorization Required</title></head><body><center>nginx</center></body></html>"
)
FORM = "<!doctype html><title>Internal tools</title><form><input name=code type=password></form>"

GATES = (
    _gate("vercel", "Vercel's page", 401, ("Set-Cookie", "_vercel_sso_nonce=x"), ("Server", "Vercel")),
    _gate("cloudflare", "a page of Cloudflare Access", 403, ("CF-Access-Domain", "mcp.invalid")),
    _gate("google", "Google's proxy", 401, ("X-Goog-IAP-Generated-Response", "true")),
    _gate("aws", "a load balancer that lets nobody in", 401, ("Server", "awselb/2.0"), page=NGINX),
    _gate("azure", "Azure's", 401, page="You do not have permission to view this directory or page."),
    _gate("oauth2-proxy", "a form of oauth2-proxy", 403, page='<form action="/oauth2/start">'),
    _gate("basic", "the password prompt of nginx", 401, BASIC, page=NGINX),
    _gate("password", "a form that asks for a password", 401, page=FORM),
)
OWN_REFUSALS = (
    _shut(
        "401-page-with-challenge",
        "the server's own 401, an HTML page with a challenge",
        Answer(status=401, headers=(HTML, *CHALLENGE), body=FORM.encode()),
        "auth",
        challenge=(RISK, "no-metadata-url"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    _shut(
        "401-express",
        "a bare 401 whose one word is sent as HTML",
        Answer(status=401, headers=(HTML,), body=b"Unauthorized"),
        "auth",
        challenge=(FAILED, "absent"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    _shut(
        "401-basic-json",
        "a server that asks for Basic in JSON",
        Answer(status=401, headers=(("Content-Type", "application/json"), BASIC), body=b'{"error": "no"}'),
        "auth",
        challenge=(FAILED, "no-bearer"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
)

STATUSES = (
    *OWN_REFUSALS,
    Specimen(
        name="404-everywhere",
        deviation="404 to everything",
        make=_always(Answer(status=404)),
        eras=(),
        expect={"transport/endpoint": (FAILED, "http-4xx"), "transport/redirect": VERIFIED},
        blocked="http-4xx",
    ),
    _shut(
        "401",
        "401 to everything, without a challenge",
        Answer(status=401),
        "auth",
        challenge=(FAILED, "absent"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    _shut(
        "401-challenge",
        "401 to everything, with a challenge that names nothing",
        Answer(status=401, headers=CHALLENGE),
        "auth",
        challenge=(RISK, "no-metadata-url"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    _shut(
        "403-challenge",
        "403 to everything, with a challenge",
        Answer(status=403, headers=CHALLENGE),
        "auth",
        challenge=(FAILED, "wrong-status"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=(FAILED, "forbidden"),
    ),
    _shut("403", "403 to everything", Answer(status=403), "forbidden"),
    Specimen(
        name="discover-403",
        deviation="403 to server/discover alone",
        make=lambda: Mcp(
            before=lambda _, incoming: (
                Answer(status=403) if incoming.rpc_method == "server/discover" else None
            )
        ),
        eras=(Era.LEGACY,),
        expect={"mcp/era-coverage": (RISK, "forbidden")},
    ),
    Specimen(
        name="initialize-mislabelled",
        deviation="the answer to initialize is an event stream that says it is JSON",
        make=_mislabelled_initialize,
        eras=(Era.MODERN,),
        expect={"mcp/era-coverage": (NOT_CHECKED, "initialize-unclear")},
    ),
    Specimen(
        name="static-site",
        deviation="405 to every POST, and a web page to GET",
        make=lambda: Mcp(
            before=lambda _, incoming: page_html("Welcome", status=405 if incoming.method == "POST" else 200)
        ),
        eras=(),
        expect={"transport/endpoint": (FAILED, "http-4xx"), "transport/redirect": VERIFIED},
        blocked="http-4xx",
    ),
    _shut("451", "451 to everything, from where the probe is", Answer(status=451), "forbidden"),
    _shut("bot-page", "a page that asks to wait", page_html("Just a moment...", status=403), "bot-page"),
    _shut("bot-page-503", "the same with 503", page_html("Just a moment...", status=503), "bot-page"),
    _shut("bot-page-200", "a page of Cloudflare with 200 that asks for a proof", CHALLENGED, "bot-page"),
    _shut(
        "bot-page-202",
        "a page of AWS WAF with 202 that asks for a proof",
        Answer(status=202, headers=(HTML, ("x-amzn-waf-action", "challenge"))),
        "bot-page",
    ),
    _shut(
        "bot-page-imperva",
        "a page of Imperva with 200 that is nothing but a script",
        Answer(headers=(HTML, ("X-CDN", "Imperva"), ("X-Iinfo", "9-1-1 NNNN")), body=IMPERVA),
        "bot-page",
    ),
    Specimen(
        name="bot-page-list",
        deviation="a bot-protection page with 200 in answer to tools/list",
        make=lambda: Mcp(before=lambda _, asked: CHALLENGED if asked.rpc_method == "tools/list" else None),
        expect={
            "tools/pagination": (NOT_CHECKED, "http-status"),
            "session/ended": (NOT_CHECKED, "bot-page"),
        },
        blocked="incomplete-list",
    ),
    *GATES,
    _shut("429", "429 to everything", Answer(status=429), "rate-limited"),
    _shut(
        "429-retry-after",
        "429 with Retry-After",
        Answer(status=429, headers=(("Retry-After", "120"),)),
        "rate-limited",
    ),
    _shut(
        "429-for-centuries",
        "429 with a Retry-After of three hundred years",
        Answer(status=429, headers=(("Retry-After", "9999999999"),)),
        "rate-limited",
    ),
    _shut(
        "429-for-ever",
        "429 with a Retry-After that is no number",
        Answer(status=429, headers=(("Retry-After", "-1.5e9 soon"),)),
        "rate-limited",
    ),
    _shut(
        "503-retry-after",
        "503 with Retry-After to everything",
        Answer(status=503, headers=(("Retry-After", "60"),)),
        "http-5xx",
        FAILED,
    ),
    _shut("500", "500 to everything", Answer(status=500), "http-5xx", FAILED),
    _shut("cut", "the connection is closed without a word", Answer(cut=True), "reset", FAILED),
    Specimen(
        name="503-once",
        deviation="503 to the first request",
        make=lambda: Mcp(before=_Times(Answer(status=503))),
    ),
    Specimen(
        name="cut-once",
        deviation="the first request's connection is closed without a word",
        make=lambda: Mcp(before=_Times(Answer(cut=True))),
    ),
    Specimen(
        name="initialize-429",
        deviation="429 to initialize alone",
        make=lambda: Mcp(
            before=lambda _, asked: Answer(status=429) if asked.rpc_method == "initialize" else None
        ),
        eras=(Era.MODERN,),
        expect={"mcp/era-coverage": (NOT_CHECKED, "initialize-unclear")},
    ),
    Specimen(
        name="initialize-404",
        deviation="404 to initialize alone",
        make=lambda: Mcp(
            before=lambda _, asked: Answer(status=404) if asked.rpc_method == "initialize" else None
        ),
        eras=(Era.MODERN,),
        expect=MODERN_ONLY,
    ),
)


def _leaves(
    name: str,
    deviation: str,
    answer: Answer,
    code: str,
    state: State = FAILED,
    **auth: tuple[State, str],
) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=_always(answer),
        eras=(),
        expect={
            "transport/endpoint": (FAILED, "redirect"),
            "transport/redirect": (state, code),
            **{f"auth/{check.replace('_', '-')}": result for check, result in auth.items()},
        },
        blocked="redirect",
    )


REDIRECTS = (
    Specimen(
        name="redirect-307-slash",
        deviation="307 to the address with a slash",
        make=_slash(307),
        expect={"transport/redirect": (RISK, "same-origin")},
    ),
    Specimen(
        name="redirect-307-list",
        deviation="307 of tools/list alone, to another path",
        make=_redirected_list,
        expect={"transport/redirect": (RISK, "same-origin")},
    ),
    Specimen(
        name="redirect-308",
        deviation="308 to another path",
        make=_slash(308, "/v2/mcp"),
        expect={"transport/redirect": (RISK, "same-origin")},
    ),
    _leaves("redirect-301", "301 to the address with a slash", _redirect(301, "/mcp/"), "method-lost"),
    _leaves(
        "redirect-302",
        "302 to a login page",
        _redirect(302, "https://idp.invalid/login"),
        "other-host",
        challenge=(FAILED, "login-redirect"),
        resource_metadata=(NOT_CHECKED, "login-redirect"),
        invalid_token=(NOT_CHECKED, "login-redirect"),
    ),
    _leaves("redirect-host", "307 to another host", _redirect(307, "http://b.invalid/mcp"), "other-host"),
    _leaves(
        "redirect-metadata",
        "307 to the cloud's metadata address",
        _redirect(307, "http://169.254.169.254/latest/meta-data/"),
        "other-host",
    ),
    _leaves("redirect-loop", "307 to itself for ever", _redirect(307, "/mcp"), "same-origin", RISK),
    _leaves("redirect-nowhere", "307 to no address at all", _redirect(307, "http://[::1/"), "other-host"),
)

DOORS = (*CONTENT_TYPES, *STATUSES, *REDIRECTS)
