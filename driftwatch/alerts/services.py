"""Apprise's services: which one a channel's URL means, and whether it can be used.

It imports nothing of ours, so that the process which judges URLs (``urls``) begins fast.
"""

import logging
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import apprise

READ_TIMEOUT_S = 15.0
"""How long a receiver may think, where its URL says nothing else; Apprise's four seconds make repeats."""


_WEB = frozenset({"http", "https"})
"""Under these Apprise has the addresses that some services give out themselves, such as Slack's webhooks."""


def validate(url: str) -> str | None:
    """Why Apprise cannot use a URL, without any part of it but a well-formed scheme; None when it can."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        return "not an Apprise URL: it starts with a service's name and ://, such as mailto:// or slack://"
    shown = f"{scheme}://" if re.fullmatch(r"[A-Za-z0-9]{1,20}", scheme) else "its service"
    library = load()
    services = library.plugins.N_MGR
    web = scheme.lower() in _WEB
    if scheme.lower() not in services and not web:
        return f"Apprise has no service for {shown}; see its list of services"
    if len(library.utils.parse.parse_urls(url)) > 1:
        return "more than one URL: give each a channel of its own"
    if instantiate(url) is not None:
        return None
    if web:
        return "Apprise knows no service by this web address; a webhook of your own is json:// or jsons://"
    if not services[scheme.lower()].enabled:
        return f"the service behind {shown} needs a Python package that is not installed"
    return f"Apprise cannot read this {shown} URL; compare it with the form in Apprise's documentation"


def instantiate(url: str) -> Any:
    """A fresh instance, so that nothing of one send is left to the next; None for a URL that is no use."""
    library = load()
    service = library.Apprise.instantiate(url, asset=_asset(library))
    if service is None:
        return None
    # Whatever the URL asks for: a redirect would carry the message to a stranger, and the outbox retries.
    service.redirects = False
    service.retry = 0
    if service.socket_read_timeout == library.URLBase.socket_read_timeout:
        service.socket_read_timeout = READ_TIMEOUT_S
    return service


def _asset(library: Any) -> "apprise.AppriseAsset":
    asset: apprise.AppriseAsset = library.AppriseAsset(
        app_id="driftwatch",
        app_desc="driftwatch",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        image_path_mask=False,
        async_mode=False,
        service_timeout=0,
        http_redirects=False,
        interpret_escapes=False,
        interpret_emojis=False,
        pgp_autogen=False,
        pem_autogen=False,
        allow_templates=False,
        storage_mode="memory",
        language="en",
        timezone="UTC",
    )
    return asset


def load() -> Any:
    """Apprise, loaded at the first use, with a logger that nobody else hears.

    It has to speak at DEBUG, where it says why a connection failed; there it also prints URLs and headers.
    """
    import apprise  # noqa: PLC0415 - 0.3 s and 26 MB that only alerts need

    logger = logging.getLogger("apprise")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    # It prints paths, and they are secrets of webhooks.
    logging.getLogger("urllib3").setLevel(logging.WARNING)
    return apprise
