import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.config.toml_lines import KeyPath, find_line, index_lines

DOCUMENT = """\
# [not.a.table]
title = "a # b"  # c
'quoted key' = 1
"esc\\u0061ped" = 2

[owner]
bio = \"\"\"
name = "inside"
[server]
\\\"\"\" still inside ""\"\"\"
path = '''
x = 1
\\'''
after = 1979-05-27 07:32:00
a.b."c.d" = 3
a.b.e = 4
list = [ # comment with ] and "
  1,
  [2, 3], "]",

  { x = 1, y = [
    2 ] },
]
inline = { a = { b = "}" }, c.d = 1 }

[[server]]
name = "one"
[server.oauth]
client_id = "x"
[[server.window]]
n = 1
[[server.window]]
n = 2
[ server . "checks" ]
off = []

[[server]]
name = "two"

[deep.down]
k = 1
[deep]
k = 2
"""


def test_every_key_table_and_item_has_its_line() -> None:
    lines = index_lines(DOCUMENT)
    assert lines == {
        ("title",): 2,
        ("quoted key",): 3,
        ("escaped",): 4,
        ("owner",): 6,
        ("owner", "bio"): 7,
        ("owner", "path"): 11,
        ("owner", "after"): 14,
        ("owner", "a"): 15,
        ("owner", "a", "b"): 15,
        ("owner", "a", "b", "c.d"): 15,
        ("owner", "a", "b", "e"): 16,
        ("owner", "list"): 17,
        ("owner", "list", 0): 18,
        ("owner", "list", 1): 19,
        ("owner", "list", 1, 0): 19,
        ("owner", "list", 1, 1): 19,
        ("owner", "list", 2): 19,
        ("owner", "list", 3): 21,
        ("owner", "list", 3, "x"): 21,
        ("owner", "list", 3, "y"): 21,
        ("owner", "list", 3, "y", 0): 22,
        ("owner", "inline"): 24,
        ("owner", "inline", "a"): 24,
        ("owner", "inline", "a", "b"): 24,
        ("owner", "inline", "c"): 24,
        ("owner", "inline", "c", "d"): 24,
        ("server",): 26,
        ("server", 0): 26,
        ("server", 0, "name"): 27,
        ("server", 0, "oauth"): 28,
        ("server", 0, "oauth", "client_id"): 29,
        ("server", 0, "window"): 30,
        ("server", 0, "window", 0): 30,
        ("server", 0, "window", 0, "n"): 31,
        ("server", 0, "window", 1): 32,
        ("server", 0, "window", 1, "n"): 33,
        ("server", 0, "checks"): 34,
        ("server", 0, "checks", "off"): 35,
        ("server", 1): 37,
        ("server", 1, "name"): 38,
        ("deep",): 42,
        ("deep", "down"): 40,
        ("deep", "down", "k"): 41,
        ("deep", "k"): 43,
    }


def test_the_index_knows_exactly_what_the_parser_found() -> None:
    assert set(index_lines(DOCUMENT)) == set(paths(tomllib.loads(DOCUMENT)))


def test_windows_line_ends_count_once() -> None:
    assert index_lines("a = 1\r\n\r\nb = [\r\n1]\r\n") == {("a",): 1, ("b",): 3, ("b", 0): 4}


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "a = 1"])
def test_the_end_of_the_file_needs_no_line_break(text: str) -> None:
    assert index_lines(text) == dict.fromkeys(paths(tomllib.loads(text)), 1)


def test_a_key_that_is_not_there_stands_where_its_table_stands() -> None:
    lines = index_lines('[[server]]\nname = "a"\n\n[[server]]\nname = "b"\n')
    assert find_line(lines, ("server", 1, "url")) == 4
    assert find_line(lines, ("elsewhere",)) is None


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    match value:
        case dict():
            inner: Any = value.items()
        case list():
            inner = enumerate(value)
        case _:
            return
    for step, item in inner:
        yield (*path, step)
        yield from paths(item, (*path, step))


# Random documents, written together with the line of everything in them.

TRICKY = st.sampled_from(
    ["", "#", "[x]", "k = 1", '"', "'", "]", "}", ",", "\\", "'''", '"""', "\n", "é", "=", "."]
)
TEXTS = st.lists(TRICKY, max_size=5).map("".join)
KEYS = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True), TEXTS)


def basic(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def multi_line(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
    return f'"""\n{escaped}"""' if not escaped.endswith('"') else basic(text)


def multi_line_literal(text: str) -> str:
    return f"'''{text}'''" if "'" not in text else basic(text)


SCALARS = st.one_of(
    st.builds(
        lambda write, text: write(text), st.sampled_from([basic, multi_line, multi_line_literal]), TEXTS
    ),
    st.sampled_from(
        ["1", "-0.5", "true", "inf", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00", "07:32:00", "0x1F"]
    ),
)
FILLERS = st.sampled_from(["", " ", "\t", "\n", " # ] } ' \" =\n", "\n\n"])


class Writer:
    """Writes a document and remembers the line of everything in it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[KeyPath, int] = {}

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def key(self, key: str) -> None:
        bare = bool(key) and all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
        self.text += key if bare and self.draw(st.booleans()) else basic(key)

    def value(self, path: KeyPath, depth: int) -> None:
        kind = self.draw(
            st.sampled_from(["scalar", "scalar", "array", "inline"] if depth < 3 else ["scalar"])
        )
        if kind == "array":
            self.text += "["
            for number in range(self.draw(st.integers(0, 3))):
                self.text += self.draw(FILLERS)
                self.lines[*path, number] = self.line
                self.value((*path, number), depth + 1)
                self.text += self.draw(FILLERS) + ","
            self.text += self.draw(FILLERS) + "]"
        elif kind == "inline":
            self.text += "{ "
            for number, key in enumerate(self.draw(st.lists(KEYS, max_size=3, unique=True))):
                self.text += ", " if number else ""
                self.lines[*path, key] = self.line
                self.key(key)
                self.text += " = "
                self.value((*path, key), depth + 1)
            self.text += " }"
        else:
            self.text += self.draw(SCALARS)

    def pairs(self, table: KeyPath, taken: set[str]) -> None:
        for key in self.draw(st.lists(KEYS, max_size=4, unique=True)):
            if key in taken:
                continue
            taken.add(key)
            self.text += self.draw(st.sampled_from(["", "\n", "# [x]\n", "  "]))
            self.lines[*table, key] = self.line
            self.key(key)
            self.text += self.draw(st.sampled_from(["=", " = ", "\t="]))
            self.value((*table, key), 0)
            self.text += self.draw(st.sampled_from(["\n", " # c = 1\n"]))


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[KeyPath, int]]:
    writer = Writer(draw)
    names = draw(st.lists(KEYS, max_size=4, unique=True))
    writer.pairs((), set(names))
    for name in names:
        for number in range(draw(st.integers(1, 3))) if draw(st.booleans()) else [None]:
            path: KeyPath = (name,) if number is None else (name, number)
            if number == 0:
                writer.lines[(name,)] = writer.line
            writer.lines[path] = writer.line
            brackets = "[" if number is None else "[["
            writer.text += brackets
            writer.key(name)
            writer.text += brackets.replace("[", "]") + "\n"
            writer.pairs(path, set())
    return writer.text, writer.lines


@given(documents())
def test_a_random_document_has_every_line_where_it_was_written(
    document: tuple[str, dict[KeyPath, int]],
) -> None:
    text, expected = document
    assert set(paths(tomllib.loads(text))) == set(expected)
    assert index_lines(text) == expected
