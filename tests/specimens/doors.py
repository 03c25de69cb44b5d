"""Faults of the door: status codes, gates and refusals instead of an answer."""

from dataclasses import dataclass

from driftwatch.model import Era
from tests.specimens.answering import always, answers, shut
from tests.specimens.healthy import MODERN_ONLY
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, as_sse, page_html
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen


def _mislabelled_initialize() -> Mcp:
    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "initialize":
            return answer
        return answer.but(body=as_sse(answer.body.decode()).body)

    return Mcp(after=changed, sessions=False)


@dataclass
class _Times:
    """Answers otherwise the first few times it is asked."""

    answer: Answer
    times: int = 1

    def __call__(self, _: Mcp, __: Incoming) -> Answer | None:
        self.times -= 1
        return self.answer if self.times >= 0 else None


HTML = ("Content-Type", "text/html")
IMPERVA = (
    b'<html><head><META NAME="robots" CONTENT="noindex,nofollow">'
    b'<script src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e"></script></head></html>'
)
CHALLENGED = page_html("Just a moment...", status=200).with_header("cf-mitigated", "challenge")

CHALLENGE = (("WWW-Authenticate", 'Bearer realm="mcp"'),)


def _gate(name: str, deviation: str, status: int, *headers: tuple[str, str], page: str = "") -> Specimen:
    """An access gate that is told as such, and not as the server's own refusal."""
    answer = Answer(status=status, headers=(HTML, *headers), body=page.encode())
    return shut(f"gate-{name}", deviation, answer, "access-gate")


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
    shut(
        "401-page-with-challenge",
        "the server's own 401, an HTML page with a challenge",
        Answer(status=401, headers=(HTML, *CHALLENGE), body=FORM.encode()),
        "auth",
        challenge=(RISK, "no-metadata-url"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    shut(
        "401-express",
        "a bare 401 whose one word is sent as HTML",
        Answer(status=401, headers=(HTML,), body=b"Unauthorized"),
        "auth",
        challenge=(FAILED, "absent"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    shut(
        "401-basic-json",
        "a server that asks for Basic in JSON",
        Answer(status=401, headers=(("Content-Type", "application/json"), BASIC), body=b'{"error": "no"}'),
        "auth",
        challenge=(FAILED, "no-bearer"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
)

DOORS = (
    *OWN_REFUSALS,
    Specimen(
        name="404-everywhere",
        deviation="404 to everything",
        make=always(Answer(status=404)),
        eras=(),
        expect={"transport/endpoint": (FAILED, "http-4xx"), "transport/redirect": VERIFIED},
        blocked="http-4xx",
    ),
    shut(
        "401",
        "401 to everything, without a challenge",
        Answer(status=401),
        "auth",
        challenge=(FAILED, "absent"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    shut(
        "401-challenge",
        "401 to everything, with a challenge that names nothing",
        Answer(status=401, headers=CHALLENGE),
        "auth",
        challenge=(RISK, "no-metadata-url"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=VERIFIED,
    ),
    shut(
        "403-challenge",
        "403 to everything, with a challenge",
        Answer(status=403, headers=CHALLENGE),
        "auth",
        challenge=(FAILED, "wrong-status"),
        resource_metadata=(FAILED, "nowhere"),
        invalid_token=(FAILED, "forbidden"),
    ),
    shut("403", "403 to everything", Answer(status=403), "forbidden"),
    Specimen(
        name="discover-403",
        deviation="403 to server/discover alone",
        make=answers("server/discover", Answer(status=403)),
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
    shut("451", "451 to everything, from where the probe is", Answer(status=451), "forbidden"),
    shut("bot-page", "a page that asks to wait", page_html("Just a moment...", status=403), "bot-page"),
    shut("bot-page-503", "the same with 503", page_html("Just a moment...", status=503), "bot-page"),
    shut("bot-page-200", "a page of Cloudflare with 200 that asks for a proof", CHALLENGED, "bot-page"),
    shut(
        "bot-page-202",
        "a page of AWS WAF with 202 that asks for a proof",
        Answer(status=202, headers=(HTML, ("x-amzn-waf-action", "challenge"))),
        "bot-page",
    ),
    shut(
        "bot-page-imperva",
        "a page of Imperva with 200 that is nothing but a script",
        Answer(headers=(HTML, ("X-CDN", "Imperva"), ("X-Iinfo", "9-1-1 NNNN")), body=IMPERVA),
        "bot-page",
    ),
    Specimen(
        name="bot-page-list",
        deviation="a bot-protection page with 200 in answer to tools/list",
        make=answers("tools/list", CHALLENGED),
        expect={
            "tools/pagination": (NOT_CHECKED, "http-status"),
            "session/ended": (NOT_CHECKED, "bot-page"),
        },
        blocked="incomplete-list",
    ),
    *GATES,
    shut("429", "429 to everything", Answer(status=429), "rate-limited"),
    shut(
        "429-retry-after",
        "429 with Retry-After",
        Answer(status=429, headers=(("Retry-After", "120"),)),
        "rate-limited",
    ),
    shut(
        "429-for-centuries",
        "429 with a Retry-After of three hundred years",
        Answer(status=429, headers=(("Retry-After", "9999999999"),)),
        "rate-limited",
    ),
    shut(
        "429-for-ever",
        "429 with a Retry-After that is no number",
        Answer(status=429, headers=(("Retry-After", "-1.5e9 soon"),)),
        "rate-limited",
    ),
    shut(
        "503-retry-after",
        "503 with Retry-After to everything",
        Answer(status=503, headers=(("Retry-After", "60"),)),
        "http-5xx",
        FAILED,
    ),
    shut("500", "500 to everything", Answer(status=500), "http-5xx", FAILED),
    shut("cut", "the connection is closed without a word", Answer(cut=True), "reset", FAILED),
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
        make=answers("initialize", Answer(status=429)),
        eras=(Era.MODERN,),
        expect={"mcp/era-coverage": (NOT_CHECKED, "initialize-unclear")},
    ),
    Specimen(
        name="initialize-404",
        deviation="404 to initialize alone",
        make=answers("initialize", Answer(status=404)),
        eras=(Era.MODERN,),
        expect=MODERN_ONLY,
    ),
)
