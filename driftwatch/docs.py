"""What is written about driftwatch and must not drift from it: the catalogue and the report's form.

``python -m driftwatch.docs`` writes docs/api.md, docs/checks.md, docs/configure.md, the README's table and
the fields of docs/report.md; with ``--check`` it writes nothing and fails when one of them is not what it
would write.
"""

import argparse
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwatch import checks
from driftwatch.checks import Declaration
from driftwatch.checks.clients import CLIENTS, CLIENTS_AS_OF
from driftwatch.checks.schema import SEMANTIC_NAMES
from driftwatch.checks.sources import DOCUMENTS, Source
from driftwatch.errors import UsageError
from driftwatch.model import KNOWN_REVISIONS, Era, Json, Severity, State
from driftwatch.report import SCHEMA

WIDTH = 100
"""Columns of what is explained where nobody says how wide it may be."""

_NARROWEST = 24
"""Columns that titles have at least, however narrow the terminal is."""

PACKAGE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Page:
    """One file that is generated, wholly or between markers."""

    path: str
    """From the root of the project."""
    render: Callable[[str], str]
    """What the file should be, from what it is (empty when it does not exist)."""


def listing_json() -> list[dict[str, Json]]:
    """Every check as `driftwatch checks --json` prints it."""
    return [
        {
            "id": declaration.id,
            "title": declaration.title,
            "severity": declaration.severity.value,
            "depth": declaration.depth.value,
            "version": declaration.version,
            "since": declaration.since,
            "summary": _first_sentence(declaration.summary),
        }
        for declaration in checks.catalogue
    ]


def listing_text(width: int | None = None) -> str:
    """Every check as `driftwatch checks` prints it: id, severity, title; with a width titles are folded."""
    wide = max(len(declaration.id) for declaration in checks.catalogue)
    severity = max(len(severity.value) for severity in Severity)
    indent = 2 + wide + 2 + severity + 2
    lines: list[str] = []
    for family, declarations in _families():
        lines += ["", family] if lines else [family]
        for one in declarations:
            room = max(width - indent, _NARROWEST) if width else len(one.title)
            title = f"\n{' ' * indent}".join(textwrap.wrap(one.title, room, break_on_hyphens=False))
            lines.append(f"  {one.id:{wide}}  {one.severity.value:{severity}}  {title}")
    return "\n".join([*lines, "", "driftwatch explain ID says why a check matters and how to fix it."])


def explain_json(check_id: str) -> dict[str, Json]:
    """One check as `driftwatch explain ID --json` prints it. Raises UsageError for an unknown id."""
    declaration = _declaration(check_id)
    return {
        "id": declaration.id,
        "title": declaration.title,
        "severity": declaration.severity.value,
        "summary": declaration.summary,
        "why": declaration.why,
        "fix": declaration.fix,
        "sources": [_source_json(source) for source in declaration.sources],
        "eras": [era.value for era in declaration.eras],
        "since_revision": declaration.since_revision,
        "depth": declaration.depth.value,
        "root": declaration.root,
        "version": declaration.version,
        "since": declaration.since,
        "parameters": list(declaration.needs),
        "file": _file(declaration),
        "line": declaration.line,
    }


def explain_text(check_id: str, width: int | None = None) -> str:
    """One check as `driftwatch explain ID` prints it. Raises UsageError for an unknown id."""
    declaration = _declaration(check_id)
    folded = functools.partial(_wrapped, width=width or WIDTH)
    return "\n\n".join(
        [
            folded(f"{declaration.id}: {declaration.title}"),
            "\n".join(map(folded, _facts(declaration))),
            folded(declaration.summary),
            f"Why it matters\n\n{folded(declaration.why, indent=2)}",
            f"How to fix it\n\n{folded(declaration.fix, indent=2)}",
            folded(
                f"Judges {', '.join(declaration.needs)}; declared in {_file(declaration)}:{declaration.line}"
            ),
        ]
    )


def checks_page(_: str = "") -> str:
    """docs/checks.md: the catalogue."""
    parts = [_CHECKS_INTRODUCTION, _states_table(), _clients_table()]
    for family, declarations in _families():
        parts.append(f"## {family}\n\n{_family_summary(family)}")
        parts.extend(map(_check_section, declarations))
    return "\n\n".join(parts) + "\n"


def readme_table() -> str:
    """The README's table: every check in one line."""
    rows = [
        f"| [`{one.id}`](docs/checks.md#{_anchor(one.id)}) | {one.severity.value} | {one.title} |"
        for one in checks.catalogue
    ]
    return "\n".join(["| check | by default | what it says when it fires |", "| --- | --- | --- |", *rows])


def report_fields() -> str:
    """The fields of the JSON report, from its schema."""
    rows = [f"| `{path}` | {kind} | {description} |" for path, kind, description in _fields(SCHEMA, "")]
    return "\n".join(["| field | type | meaning |", "| --- | --- | --- |", *rows])


def between(name: str, content: Callable[[], str]) -> Callable[[str], str]:
    """A page of which only the part between `<!-- name:start -->` and `<!-- name:end -->` is generated.

    A page without the markers gets them at its end.
    """
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"

    def render(text: str) -> str:
        if start not in text or end not in text:
            text = f"{text.rstrip()}\n\n{start}\n{end}\n".lstrip("\n")
        before, _, rest = text.partition(start)
        return f"{before}{start}\n{content()}\n{end}{rest.partition(end)[2]}"

    return render


def configuration_page(_: str = "") -> str:
    """docs/configure.md: every key of the configuration."""
    from driftwatch.config import reference  # noqa: PLC0415 - to explain a check takes no configuration

    return reference.render()


def api_page(_: str = "") -> str:
    """docs/api.md: every endpoint."""
    from driftwatch.web import api  # noqa: PLC0415 - to explain a check takes no server
    from driftwatch.web.api import reference  # noqa: PLC0415

    return reference.render(api.DESCRIBED)


PAGES = (
    Page("docs/api.md", api_page),
    Page("docs/checks.md", checks_page),
    Page("docs/configure.md", configuration_page),
    Page("docs/report.md", between("fields", report_fields)),
    Page("README.md", between("checks", readme_table)),
)


def stale(root: Path) -> list[Page]:
    """The pages that are not what they should be."""
    return [page for page in PAGES if _read(root / page.path) != page.render(_read(root / page.path))]


def write(root: Path) -> list[Page]:
    """Bring every page up to date; the ones that were not."""
    pages = stale(root)
    for page in pages:
        path = root / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.render(_read(path)), encoding="utf-8")
    return pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or only check them; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m driftwatch.docs", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is out of date")
    parser.add_argument("--root", type=Path, default=PACKAGE.parent, help="the project's folder")
    options = parser.parse_args(arguments)
    if not (options.root / "pyproject.toml").is_file():
        sys.stderr.write(f"{options.root} is not driftwatch's source: there is no pyproject.toml\n")
        return 2
    pages = stale(options.root) if options.check else write(options.root)
    for page in pages:
        sys.stdout.write(f"{page.path} {'is out of date' if options.check else 'written'}\n")
    if options.check and pages:
        sys.stdout.write("run python -m driftwatch.docs and commit what it writes\n")
        return 1
    return 0


_CHECKS_INTRODUCTION = """\
<!-- written by python -m driftwatch.docs from the checks' own declarations: edit those -->

# Checks

Every check ends in one of four states. There is no score."""

_STATES = {
    State.VERIFIED: "It was checked, and it is as it should be.",
    State.FAILED: "A finding that will break a client.",
    State.OBSERVED_RISK: "A finding that hurts some client, some of the time, or breaks a recommendation.",
    State.NOT_CHECKED: "It could not be checked; the reason is always given, and the cause where another "
    "check explains it.",
}


def _states_table() -> str:
    rows = [f"| **{state.words}** | {meaning} |" for state, meaning in _STATES.items()]
    return "\n".join(["| state | meaning |", "| --- | --- |", *rows])


def _clients_table() -> str:
    rows = [
        f"| {client.name} | {client.description_limit} | {client.name_limit} "
        f"| {client.oldest} to {client.newest} |"
        for client in CLIENTS
    ]
    return "\n".join(
        [
            "## What clients take",
            "",
            f"As of {CLIENTS_AS_OF}, from the HeyMCP checks reference; a server's `limits` in the",
            "configuration lie over it. A revision is compared with the oldest that a client speaks.",
            f"Known revisions: {', '.join(KNOWN_REVISIONS)}.",
            "",
            "| client | characters of a description | characters of a name | revisions |",
            "| --- | --- | --- | --- |",
            *rows,
        ]
    )


def _check_section(declaration: Declaration) -> str:
    parts = [
        f"### {declaration.id}",
        f"**{declaration.title}.**",
        "\n".join(f"- {fact}" for fact in _facts(declaration)),
        declaration.summary,
        f"**Why it matters.** {declaration.why}",
        f"**How to fix it.** {declaration.fix}",
    ]
    if declaration.id == "schema/semantic-format":
        parts.insert(4, _semantic_table())
    return "\n\n".join(parts)


def _semantic_table() -> str:
    kinds = dict.fromkeys(SEMANTIC_NAMES.values())
    rows = [
        f"| {', '.join(word for word, meant in SEMANTIC_NAMES.items() if meant == kind)} | `{kind}` |"
        for kind in kinds
    ]
    return "\n".join(["| word in the name | format |", "| --- | --- |", *rows])


def _facts(declaration: Declaration) -> Iterator[str]:
    facts = [f"{declaration.severity.value} by default", f"{declaration.depth.value} probe"]
    if declaration.eras != tuple(Era):
        facts.append(f"era: {', '.join(era.value for era in declaration.eras)}")
    if declaration.since_revision is not None:
        facts.append(f"since revision {declaration.since_revision}")
    if declaration.root:
        facts.append("explains why other checks are not checked")
    yield f"{'; '.join(facts)}."
    yield f"Source: {'; '.join(_cited(declaration.sources))}."


def _cited(sources: Sequence[Source]) -> Iterator[str]:
    """Each document once, with all its entries."""
    for document in dict.fromkeys(source.document for source in sources):
        cited = [source for source in sources if source.document == document]
        yield ", ".join([str(cited[0]), *(str(source.number) for source in cited[1:])])


def _families() -> Iterator[tuple[str, list[Declaration]]]:
    for family in dict.fromkeys(one.family for one in checks.catalogue):
        yield family, [one for one in checks.catalogue if one.family == family]


def _family_summary(family: str) -> str:
    module = next(module for module in checks.FAMILIES if module.__name__.endswith(f".{family}"))
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())


def _fields(schema: dict[str, Json], path: str) -> Iterator[tuple[str, str, str]]:
    for name, member in schema["properties"].items():
        here = f"{path}.{name}" if path else name
        inner = member["anyOf"][0] if "anyOf" in member else member
        suffix = " or null" if "anyOf" in member else ""
        items = inner.get("items", {})
        if "properties" in items:
            yield f"{here}[]", "array of objects", inner["description"]
            yield from _fields(items, f"{here}[]")
            continue
        yield here, f"{_kind(inner)}{suffix}", member["description"]
        if "properties" in inner:
            yield from _fields(inner, here)


def _kind(schema: dict[str, Json]) -> str:
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " \\| ".join("null" if value is None else f"`{value}`" for value in schema["enum"])
    if schema.get("format") == "date-time":
        return "time, ends with `Z`"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    items = f" of {_kind(schema['items'])}s" if "items" in schema else ""
    return " or ".join(kinds) + items


def _declaration(check_id: str) -> Declaration:
    try:
        return checks.by_id(check_id)
    except KeyError:
        guess = checks.nearest(check_id)
        hint = f"did you mean {guess}?" if guess else "`driftwatch checks` lists them"
        raise UsageError(f"there is no check {check_id!r}; {hint}") from None


def _source_json(source: Source) -> dict[str, Json]:
    document = DOCUMENTS.get(source.document)
    return {
        "document": source.document,
        "number": source.number or None,
        "title": document.title if document else None,
        "url": document.url if document else None,
        "own_id": source.own_id,
    }


def _file(declaration: Declaration) -> str:
    return Path(declaration.file).relative_to(PACKAGE.parent).as_posix()


def _wrapped(text: str, *, width: int, indent: int = 0) -> str:
    space = " " * indent
    return "\n\n".join(
        textwrap.fill(
            paragraph,
            width=width,
            initial_indent=space,
            subsequent_indent=space,
            break_on_hyphens=False,
            break_long_words=False,
        )
        for paragraph in text.split("\n\n")
    )


def _first_sentence(text: str) -> str:
    return text.split("\n\n", maxsplit=1)[0]


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading: lower case, without the slash."""
    return heading.lower().replace("/", "")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
