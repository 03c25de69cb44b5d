import pytest

from driftwatch.checks import CLIENTS, client_limits
from driftwatch.model import KNOWN_REVISIONS, position


def test_the_table_is_complete_and_consistent() -> None:
    assert [client.name for client in CLIENTS] == ["Claude.ai", "ChatGPT", "Claude Code"]
    for client in CLIENTS:
        assert position(client.oldest) <= position(client.newest)


def test_a_server_may_override_a_figure_and_add_a_client() -> None:
    table = client_limits(
        {
            "ChatGPT": {"description_limit": 2048},
            "Ours": {
                "oldest": "2025-03-26",
                "newest": "2025-11-25",
                "description_limit": 500,
                "name_limit": 40,
            },
        }
    )
    assert [client.name for client in table] == ["Claude.ai", "ChatGPT", "Claude Code", "Ours"]
    assert (table[1].description_limit, table[1].name_limit) == (2048, 64)
    assert table[3].name_limit == 40


def test_without_overrides_the_table_is_its_own() -> None:
    assert client_limits({}) == CLIENTS


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"ChatGPT": {"height": 3}}, "limits of 'ChatGPT'.*height"),
        ({"ChatGPT": {"oldest": "2025-01-01"}}, "no protocol revision"),
        ({"ChatGPT": {"name_limit": 0}}, "at least 1"),
        ({"Ours": {"name_limit": 3}}, "limits of 'Ours'.*missing"),
    ],
)
def test_a_wrong_figure_names_the_client(overrides: dict[str, dict[str, str | int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        client_limits(overrides)


def test_revisions_are_compared_by_position() -> None:
    assert [position(revision) for revision in KNOWN_REVISIONS] == [0, 1, 2, 3, 4, 5]
    assert position("2099-01-01") == position("1999") == 5
