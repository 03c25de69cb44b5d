"""One bounded request to an address of the operator's: the outgoing heartbeat's way out."""

import httpx

TIMEOUT_S = 10.0


async def ping(url: str) -> str | None:
    """Fetch an address, and read nothing but the status.

    None when it was taken (a status below 300), else why not, without the address: it is a secret.
    """
    # The machine's proxy settings count here: it is the way out of many networks, and no server is watched.
    client = httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False)
    try:
        async with client, client.stream("GET", url) as reply:
            return None if reply.status_code < httpx.codes.MULTIPLE_CHOICES else f"HTTP {reply.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        return type(error).__name__
