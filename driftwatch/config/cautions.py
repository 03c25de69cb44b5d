"""What a configuration may say but hardly means, a sentence each."""

from collections.abc import Iterator, Sequence

from driftwatch.config.alerting import Channel
from driftwatch.config.server import Server
from driftwatch.config.service import Hook, Http

SHORT_TOKEN = 16
"""Tokens of fewer characters can be guessed."""


def cautions(servers: Sequence[Server], channels: Sequence[Channel], http: Http, hook: Hook) -> Iterator[str]:
    """Every caution, in the order of the tables."""
    if not servers:
        yield "no [[server]] is configured: nothing is watched"
    if not channels:
        yield "no [[alert]] is configured: nobody is told when something changes"
    yield from _untold(servers, channels)
    for server in servers:
        if server.sends_secret_in_clear:
            yield f'server "{server.name}": its credential travels unencrypted, over http'
    yield from _guessable(http, hook)
    if http.admin_token is not None and http.admin_token == http.read_token:
        yield "http.admin_token is the read_token too: whoever may read may also change"


def _untold(servers: Sequence[Server], channels: Sequence[Channel]) -> Iterator[str]:
    server_tags = {tag for server in servers for tag in server.tags}
    for channel in channels:
        if servers and channel.tags and server_tags.isdisjoint(channel.tags):
            yield f'alert "{channel.name}": no server has one of its tags, so it is never told anything'
    if channels and all(channel.tags for channel in channels):
        channel_tags = {tag for channel in channels for tag in channel.tags}
        for server in servers:
            if channel_tags.isdisjoint(server.tags):
                yield f'server "{server.name}": no alert has one of its tags, so nobody is told about it'


def _guessable(http: Http, hook: Hook) -> Iterator[str]:
    for key, token in (("read_token", http.read_token), ("admin_token", http.admin_token)):
        if token is not None and len(token.get_secret_value()) < SHORT_TOKEN:
            yield f"http.{key} has fewer than {SHORT_TOKEN} characters and can be guessed"
    for key, secrets in (("tokens", hook.tokens), ("secrets", hook.secrets)):
        if any(len(secret.get_secret_value()) < SHORT_TOKEN for secret in secrets):
            yield f"hook.{key} has one of fewer than {SHORT_TOKEN} characters, which can be guessed"
