"""Strict JSON, and the JSON-RPC message that answers a request.

Strict means: UTF-8, the grammar of RFC 8259, no NaN, a bounded depth. What clients take in spite of a flaw is
taken, and remarked.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from driftwatch.evidence import Fault, Remark, saying
from driftwatch.model import Json, integer

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ONE_KIND = bytes.maketrans(b"[]", b"{}")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_PAGE = re.compile(r"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)
_PAGE_HEAD = 2000
"""Characters of a page in which its title is looked for."""
_MAX_NAMED = 4
_MAX_QUOTED = 60


class NotJsonError(Exception):
    """A text that is no acceptable JSON; carries the Fault that says why and where."""

    def __init__(self, code: str, message: str) -> None:
        self.fault = Fault(code=code, phase="message", message=message)
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A JSON value and what was odd about its text."""

    value: Json
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The message that answers a request, if it is there, and what was odd about it."""

    message: dict[str, Json] | None
    remarks: tuple[Remark, ...] = ()


class _Unusual(Exception):  # noqa: N818 - a signal to read the text again, slowly
    """The text has something that only the slow reading can name."""


def decode(raw: bytes, *, max_depth: int) -> Decoded:
    """Read a JSON text. Raises NotJsonError with the code json, utf-8 or depth, and nothing else.

    Of duplicate members the last one counts, as in JavaScript, Python and jq. Integers are exact up to 4,300
    digits; a number beyond that, or beyond the range of a double, becomes the largest double, as in jq 1.6.
    """
    remarks = []
    if raw.startswith(_BOM):
        remarks.append(Remark(code="bom", message="the JSON text begins with a byte order mark"))
        raw = raw[len(_BOM) :]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, at = raw[error.start], error.start
        raise NotJsonError("utf-8", f"byte 0x{byte:02x} at offset {at:,} is not UTF-8") from None
    try:
        value, notes = _read(raw, text)
    except json.JSONDecodeError as error:
        raise NotJsonError("json", _position(text, error)) from None
    except RecursionError:
        raise NotJsonError("depth", f"JSON nested deeper than {max_depth} levels") from None
    if _may_be_deeper_than(raw, max_depth) and _deeper_than(value, max_depth):
        raise NotJsonError("depth", f"JSON nested deeper than {max_depth} levels")
    return Decoded(value, (*remarks, *notes))


def _read(raw: bytes, text: str) -> tuple[Json, tuple[Remark, ...]]:
    if not _SURROGATE.search(raw):
        try:
            return _FAST.decode(text), ()
        except (_Unusual, ValueError):  # no JSON, or an integer with more digits than Python reads at once
            pass
    return _read_slowly(text)


def _unless_duplicate(members: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(members)
    if len(result) != len(members):
        raise _Unusual
    return result


def _refuse_constant(name: str) -> None:
    raise _Constant(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if abs(number) == float("inf"):
        raise _Unusual
    return number


class _Constant(ValueError):  # noqa: N818 - becomes a NotJsonError
    """NaN, Infinity or -Infinity."""


_FAST = json.JSONDecoder(
    object_pairs_hook=_unless_duplicate, parse_constant=_refuse_constant, parse_float=_finite
)


class _Members(list[tuple[str, Json]]):
    """The members of one object, duplicates included."""


def _read_slowly(text: str) -> tuple[Json, tuple[Remark, ...]]:
    """Read a text once more, with everything that has to be remarked."""
    clamped: list[str] = []

    def number(digits: str, parse: Callable[[str], int | float]) -> int | float:
        try:
            value = parse(digits)
        except ValueError:  # more than sys.get_int_max_str_digits()
            value = float("inf")
        if abs(value) != float("inf"):
            return value
        clamped.append(digits)
        return -sys.float_info.max if digits.startswith("-") else sys.float_info.max

    decoder = json.JSONDecoder(
        object_pairs_hook=_Members,
        parse_constant=_refuse_constant,
        parse_float=lambda digits: number(digits, float),
        parse_int=lambda digits: number(digits, int),
    )
    try:
        value = decoder.decode(text)
    except _Constant as error:
        raise NotJsonError("json", f"{error} is not JSON") from None
    duplicates: list[str] = []
    surrogates: list[str] = []
    value = _plain(value, "", duplicates, surrogates)
    notes = [
        *_notes("duplicate-member", duplicates, "there more than once, where the last one counts:"),
        *_notes("lone-surrogate", surrogates, "half a surrogate pair in the text at"),
        *_notes("number-range", clamped, "outside of what clients can represent:"),
    ]
    return value, tuple(notes)


def _plain(value: Json, pointer: str, duplicates: list[str], surrogates: list[str]) -> Json:
    if isinstance(value, _Members):
        result: dict[str, Json] = {}
        for name, item in value:
            below = f"{pointer}/{_shown(name).replace('~', '~0').replace('/', '~1')}"
            if name in result:
                duplicates.append(below)
            if _halved(name):
                surrogates.append(below)
            result[name] = _plain(item, below, duplicates, surrogates)
        return result
    if isinstance(value, list):
        return [
            _plain(item, f"{pointer}/{place}", duplicates, surrogates) for place, item in enumerate(value)
        ]
    if isinstance(value, str) and _halved(value):
        surrogates.append(pointer)
    return value


def _halved(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _shown(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _notes(code: str, subjects: list[str], sentence: str) -> Iterable[Remark]:
    """One remark that names the first few of what it is about."""
    found = list(dict.fromkeys(subjects))
    if found:
        named = [_cut(subject) or "the top" for subject in found[:_MAX_NAMED]]
        more = [f"+{len(found) - _MAX_NAMED:,} more"] if len(found) > _MAX_NAMED else []
        yield Remark(code=code, message=f"{sentence} {', '.join([*named, *more])}")


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


def _may_be_deeper_than(raw: bytes, limit: int) -> bool:
    """Whether a text could nest deeper: quick, and never wrongly False.

    At the deepest place ``limit`` brackets were opened before and as many are closed after it, so that there
    must be that many closing ones after the opening one with that number. Brackets inside strings only add.
    """
    if len(raw) < 2 * limit:
        return False
    brackets = raw.translate(_ONE_KIND, _NO_BRACKETS).split(b"{", limit)
    return len(brackets) > limit and brackets[limit].count(b"}") >= limit


def _deeper_than(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            item
            for nest in level
            for item in (nest.values() if type(nest) is dict else nest)
            if type(item) is dict or type(item) is list
        ]
        if not level:
            return False
    return True


def _position(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "the body is empty"
    if _PAGE.match(text):
        said = saying.words(text[:_PAGE_HEAD])
        return f"not JSON but a web page: {said!r}" if said else "not JSON but a web page"
    at = len(text[: error.pos].encode())
    what = (error.msg[0].lower() + error.msg[1:]).removesuffix(" at")
    found = f" before {text[error.pos : error.pos + 20]!r}" if error.pos < len(text) else ", where it ends"
    return f"not JSON: {what} at byte {at:,}{found}"


def answer(value: Json, wanted: Json, *, sole: bool) -> Answer:
    """The message that answers the request with the id ``wanted``, among what one JSON text holds.

    The error wins over a result that stands beside it. ``sole`` says that the text is the whole reply: then a
    response with a wrong id is taken too. Raises NotJsonError with the code envelope when nothing in there is
    a JSON-RPC message.
    """
    if isinstance(value, dict) and _is_plain(value, wanted):
        return Answer(value)
    remarks: list[Remark] = []
    messages = [value]
    if isinstance(value, list):
        remarks.append(Remark(code="batch", message=f"the answer is an array of {len(value):,}"))
        messages = value
    objects = [item for item in messages if isinstance(item, dict)]
    responses = [item for item in objects if "result" in item or "error" in item]
    calls = [item for item in objects if "method" in item and "result" not in item and "error" not in item]
    if not responses and not calls:
        raise NotJsonError("envelope", f"the JSON is no JSON-RPC message: {_kind(value)}")
    requests = [str(item["method"]) for item in calls if item.get("id") is not None]
    if requests:
        said = ", ".join(_shown(name)[:_MAX_QUOTED] for name in requests[:3])
        remarks.append(Remark(code="server-request", message=f"the server sent a request of its own: {said}"))
    for matches, remark in _MATCHES:
        for item in responses:
            if matches(item, wanted, sole and len(responses) == 1):
                if remark is not None and wanted is not None:
                    given = json.dumps(item["id"])[:_MAX_QUOTED] if "id" in item else "none"
                    message = f"{remark[1]}: {given} instead of {json.dumps(wanted)}"
                    remarks.append(Remark(code=remark[0], message=message))
                return Answer(_one_outcome(item, remarks), tuple(remarks))
    return Answer(None, tuple(remarks))


def _is_plain(item: dict[str, Json], wanted: Json) -> bool:
    """Whether it is the answer, and nothing is odd about it."""
    given = item.get("id")
    return type(given) is type(wanted) and given == wanted and ("result" in item) is not ("error" in item)


def _same(item: dict[str, Json], wanted: Json, _sole: bool) -> bool:  # noqa: FBT001 - one of a table
    given = item.get("id")
    return type(given) is type(wanted) and given == wanted


def _alike(item: dict[str, Json], wanted: Json, _sole: bool) -> bool:  # noqa: FBT001 - one of a table
    given = item.get("id")
    given = given if isinstance(given, str) else integer(given)
    return given is not None and str(given) == str(wanted)


def _anonymous_error(item: dict[str, Json], _wanted: Json, _sole: bool) -> bool:  # noqa: FBT001 - as above
    return item.get("id") is None and item.get("error") is not None


def _only_one(_item: dict[str, Json], _wanted: Json, sole: bool) -> bool:  # noqa: FBT001 - as above
    return sole


_MATCHES: tuple[tuple[Callable[[dict[str, Json], Json, bool], bool], tuple[str, str] | None], ...] = (
    (_same, None),
    (_alike, ("id-type", "the answer changes the type of the id")),
    (_anonymous_error, ("id-null", "the error does not say which request it answers")),
    (_only_one, ("id-wrong", "the id of the only answer is not that of the request")),
)


def _one_outcome(item: dict[str, Json], remarks: list[Remark]) -> dict[str, Json]:
    if "result" not in item or "error" not in item:
        return item
    if item["error"] is None:
        remarks.append(Remark(code="result-and-error", message='a null "error" stands beside the result'))
        return {name: member for name, member in item.items() if name != "error"}
    remarks.append(Remark(code="result-and-error", message="both a result and an error; the error counts"))
    return item


def _kind(value: Json) -> str:
    if isinstance(value, dict):
        names = ", ".join(_shown(name)[:_MAX_QUOTED] for name in islice(value, 5))
        return f"an object with {names}" if names else "an empty object"
    if isinstance(value, list):
        return "an array without one" if value else "an empty array"
    return f"only {json.dumps(value)[:_MAX_QUOTED]}"
