"""What the documentation points to is there."""

import re
from pathlib import Path

import pytest

from driftwatch.cli import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TEST = re.compile(r"`(tests/[\w/.]+)(?:::(\w+))?`")


def anchors(document: Path) -> set[str]:
    """The anchors that renderers make of headings."""
    found = set()
    for line in document.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(words.replace(" ", "-"))
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    for link in _LINK.findall(document.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.exists(), f"{link}: there is no such file"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: there is no such heading"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_test_that_is_named_exists(document: Path) -> None:
    for file, name in _TEST.findall(document.read_text(encoding="utf-8")):
        assert (ROOT / file).exists(), f"{file}: there is no such file"
        if name:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"def {name}\(", text), f"{file} has no {name}"


def test_every_command_stands_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    words = set(re.findall(r"driftwatch ([a-z]+)", readme)) | set(re.findall(r"`([a-z]+)`", readme))
    named = [command.name for command in app.registered_commands]
    assert {*named, *(group.name for group in app.registered_groups)} <= words
