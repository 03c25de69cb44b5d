"""Which hosts are this machine."""

import pytest

from driftwatch.model import is_loopback


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("app.localhost", True),
        ("127.0.0.1.example.com", False),
        ("127.example.com", False),
        ("localhost.example.com", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_a_name_that_only_begins_like_this_machine_is_another_one(host: str, *, loopback: bool) -> None:
    assert is_loopback(host) is loopback
