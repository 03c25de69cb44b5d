"""Whether what came is a bot-protection service's word and not the server's."""

import re

from driftwatch.evidence.exchange import Exchange

_HEADERS = frozenset({"cf-mitigated", "x-amzn-waf-action"})
_REFUSALS = frozenset({403, 405, 429, 503})
_MARKERS = re.compile(
    r"just a moment|attention required!|checking (if the site|your browser)|you are (a )?human"
    r"|enable javascript and cookies|cf[-_]chl|challenge-platform|_incapsula_|ddos[- ]protection"
    r"|px-captcha|captcha-delivery|g-recaptcha|hcaptcha|awswaf|bot[- ](protection|detection)",
    re.IGNORECASE,
)
_WAIT = re.compile(r"please (wait|stand by)|one moment|moment, please", re.IGNORECASE)
"""A bot page with 403 or 429; with 503 it is as likely the owner's own maintenance page."""
_IMPERVA = re.compile(r"\bnoindex\b.*/_Incapsula_Resource\?|Incapsula incident ID", re.IGNORECASE | re.DOTALL)
"""Imperva's challenge, which comes with any status; its script alone is in the owner's own pages too."""


def is_bot_page(exchange: Exchange) -> bool:
    """Whether a bot-protection service answered instead of the server."""
    for name, _ in exchange.headers:
        if name in _HEADERS:
            return True
    if exchange.media_type != "text/html":
        return False
    if _IMPERVA.search(exchange.excerpt):
        return True
    if exchange.status not in _REFUSALS:
        return False
    if _MARKERS.search(exchange.excerpt):
        return True
    return exchange.status in {403, 429} and _WAIT.search(exchange.excerpt) is not None
