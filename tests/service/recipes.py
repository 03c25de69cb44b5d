"""The recipes of docs/deploy.md, as somebody would copy them."""

import re
import textwrap
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """What stands below a heading, until the next one."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def blocks(title: str) -> list[str]:
    """The fenced blocks of a section."""
    return re.findall(r"```\w+\n(.*?)```", section(title), re.DOTALL)


def scalar(block: str, key: str) -> str:
    """The text of a block scalar of YAML: what is indented below ``key: |`` or ``- >-``."""
    lines = iter(block.splitlines())
    for line in lines:
        head = re.fullmatch(rf"(\s*)(?:- )?{re.escape(key)} ?([|>])-?", line)
        if head is None:
            continue
        kept = []
        for inner in lines:
            if inner.strip() and len(inner) - len(inner.lstrip()) <= len(head[1]):
                break
            kept.append(inner)
        text = textwrap.dedent("\n".join(kept))
        return " ".join(text.split("\n")) if head[2] == ">" else text
    raise LookupError(key)


def address(title: str) -> str:
    """The path and query of the webhook's address that a section tells people to enter."""
    found = re.search(r"`https://driftwatch\.example\.com(/hooks/[^`]+)`", section(title))
    assert found
    return found[1]
