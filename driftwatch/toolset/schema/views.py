"""One place of a schema as a comparison sees it: references followed, combinations that say one thing folded.

``{"$ref": "#/$defs/Size"}`` and what it points to are one view; so are ``anyOf [{string}, {null}]`` and
``type [string, null]``, ``oneOf`` of constants and ``enum``, ``allOf`` of objects and one object.
Everything is bounded: a cycle of references ends where it began, what is too tangled to fold stays as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.schema.keywords import NOTES

ANYTHING: dict[str, Json] = {}
"""The schema that accepts everything: what an absent schema and ``true`` mean."""

UNIONS = ("anyOf", "oneOf")
_COMBINATORS = ("allOf", *UNIONS)

INDIRECT = frozenset({"$ref", *_COMBINATORS})
_UNFOLDABLE = INDIRECT | {"$dynamicRef", "not", "if", "then", "else"}
_NONE: dict[str, str] = {}
"""The sources of a view that is one schema as it stands; never written to."""
_STEPS = 64
"""References and combinators followed at one place."""
_BRANCHES = 200
"""A union with more branches is not folded."""
_NESTED = 8
"""Unions within unions that are folded."""

_TOGETHER = (
    frozenset({"contains", "minContains", "maxContains"}),
    frozenset({"if", "then", "else"}),
    frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems"}),
)
"""Rules of one schema that are read together: those of two schemas cannot be mixed."""

_UNDECLARED = ("additionalProperties", "unevaluatedProperties")
_DECLARING = ("properties", "patternProperties")


@dataclass(slots=True)
class View:
    """A schema at one place."""

    pointer: str
    """Where the schema stands in its tool."""
    keywords: dict[str, Json] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """For a keyword (or ``properties/<name>``) from elsewhere: the pointer of the schema it stands in."""
    shape: str = "schema"
    """``schema``, ``nothing`` (the schema false) or ``junk`` (no schema at all)."""
    target: str | None = None
    """The pointer of the last reference followed."""
    places: tuple[str, ...] = ()
    """The pointers of what is left in ``allOf``, where it is not all that stood there."""

    def at(self, keyword: str) -> str:
        """The JSON pointer of a keyword."""
        return f"{self.sources.get(keyword, self.pointer)}/{escape(keyword)}"

    def at_property(self, name: str) -> str:
        """The JSON pointer of a property's schema."""
        owner = self.pointer
        if self.sources:
            owner = self.sources.get(f"properties/{name}") or self.sources.get("properties", owner)
        return f"{owner}/properties/{escape(name)}"

    def branches(self, combinator: str) -> list[tuple[Json, str]]:
        """The schemas of an allOf or a union, each with its JSON pointer."""
        every = self.keywords.get(combinator)
        if not isinstance(every, list):
            return []
        if combinator == "allOf" and self.places:
            return list(zip(every, self.places, strict=True))
        pointer = self.at(combinator)
        return [(schema, f"{pointer}/{index}") for index, schema in enumerate(every)]

    def without(self, keywords: frozenset[str]) -> "View":
        """The view as if these keywords were not there."""
        left = {name: item for name, item in self.keywords.items() if name not in keywords}
        return replace(self, keywords=left)

    @property
    def rules(self) -> dict[str, Json]:
        """The keywords that accept or refuse values."""
        return {name: item for name, item in self.keywords.items() if name not in NOTES}


@dataclass(slots=True)
class Allowance:
    """How much work may still be done: references multiply, and a hostile schema must not cost minutes."""

    left: int

    def spend(self) -> bool:
        """Take one step's worth; False when there is none left."""
        self.left -= 1
        return self.left >= 0


@dataclass(slots=True)
class Document:
    """A whole schema, in which local references are resolved."""

    root: Json
    pointer: str
    """Where it stands in its tool, such as ``/inputSchema``."""
    allowance: "Allowance"
    """When it is used up, references and combinations stay as they are."""
    _resolved: dict[str, tuple[Json, str] | None] = field(default_factory=dict)

    def view(self, schema: Json, pointer: str, nested: int = 0) -> View:
        """The schema as a comparison sees it. Accepts anything."""
        if not isinstance(schema, dict):
            shape = "schema" if schema is True else "nothing" if schema is False else "junk"
            return View(pointer, shape=shape)
        if not self.allowance.spend() or INDIRECT.isdisjoint(schema):
            return View(pointer, schema, _NONE)
        view = View(pointer, dict(schema))
        seen: set[str] = set()
        for _ in range(_STEPS):
            if INDIRECT.isdisjoint(view.keywords):
                break
            followed = "$ref" in view.keywords and self._follow(view, seen)
            if not (followed or _unwrap(view) or self._fold(view, nested)):
                break
        return view

    def resolve(self, reference: Json) -> tuple[Json, str] | None:
        """What a local reference points to, and where that is; None for any other reference."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        if reference not in self._resolved:
            self._resolved[reference] = self._resolve(reference)
        return self._resolved[reference]

    def _resolve(self, reference: str) -> tuple[Json, str] | None:
        if reference[1:2] not in {"", "/"}:
            return self._anchored(reference[1:])
        node, pointer = self.root, self.pointer
        for step in unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and name in node:
                node = node[name]
            elif isinstance(node, list) and name in map(str, range(len(node))):
                node = node[int(name)]
            else:
                return None
            pointer += f"/{escape(name)}"
        return node, pointer

    def _anchored(self, anchor: str) -> tuple[Json, str] | None:
        """The definition with that ``$anchor``."""
        for keyword in ("$defs", "definitions"):
            definitions = self.root.get(keyword) if isinstance(self.root, dict) else None
            for name, schema in definitions.items() if isinstance(definitions, dict) else ():
                if isinstance(schema, dict) and schema.get("$anchor") == anchor:
                    return schema, f"{self.pointer}/{keyword}/{escape(name)}"
        return None

    def definition(self, schema: Json) -> Json:
        """The object that a schema is nothing but a reference to; any other schema itself."""
        if not isinstance(schema, dict) or schema.keys() != {"$ref"}:
            return schema
        found = self.resolve(schema["$ref"])
        return found[0] if found is not None and _declares(found[0]) else schema

    def _follow(self, view: View, seen: set[str]) -> bool:
        found = self.resolve(view.keywords["$ref"])
        if found is None:
            return False
        target, pointer = found
        del view.keywords["$ref"]
        view.sources.pop("$ref", None)
        if pointer not in seen:  # else a reference to itself, which says nothing
            seen.add(pointer)
            view.target = pointer
            if not _merge(view, target, pointer):
                _put(view, "allOf", [*view.branches("allOf"), (target, pointer)])
        return True

    def _fold(self, view: View, nested: int) -> bool:
        """Write a union as one schema where that means the same: nullable, several types, constants."""
        for union in UNIONS:
            branches = view.keywords.get(union)
            if not isinstance(branches, list) or not 1 < len(branches) <= _BRANCHES or nested > _NESTED:
                continue
            if len([item for item in branches if _declares(item)]) > 1:
                continue  # two objects are not one, and many unions are of objects
            pointer = view.at(union)
            views = [self.view(item, f"{pointer}/{index}", nested + 1) for index, item in enumerate(branches)]
            folded = _folded([item for item in views if item.shape != "nothing"])
            if folded is None or _clashes(view, folded.keywords):
                continue
            del view.keywords[union]
            view.sources.pop(union, None)
            for name, item in folded.keywords.items():
                if name not in view.keywords:
                    view.keywords[name] = item
                    view.sources[name] = folded.sources.get(name, folded.pointer)
            return True
        return False


def _declares(schema: Json) -> bool:
    """True for an object with properties that stands alone."""
    return isinstance(schema, dict) and "properties" in schema and INDIRECT.isdisjoint(schema)


def escape(name: str) -> str:
    """A name as one step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


def types(of: Json) -> Iterator[str]:
    """The names in a ``type`` keyword; what is no name is left out."""
    if isinstance(of, str):
        yield of
    elif isinstance(of, list):
        yield from (kind for kind in of if isinstance(kind, str))


def names(of: Json) -> list[str]:
    """The names in a ``required`` keyword or its like; what is no name is left out."""
    return [name for name in of if isinstance(name, str)] if isinstance(of, list) else []


def _unwrap(view: View) -> bool:
    """Take in those schemas of an allOf, or of a union of one, that fit beside the view's own keywords."""
    for combinator in _COMBINATORS:
        branches = view.keywords.get(combinator)
        if not isinstance(branches, list) or (combinator != "allOf" and len(branches) != 1):
            continue
        every = view.branches(combinator)
        source = view.sources.pop(combinator, None)
        del view.keywords[combinator]
        view.places = () if combinator == "allOf" else view.places
        left = [(item, pointer) for item, pointer in every if not _merge(view, item, pointer)]
        if left or not every:
            _put(view, combinator, [*view.branches(combinator), *left])
            if source is not None:
                view.sources[combinator] = source
        if len(left) < len(branches):
            return True
    return False


def _put(view: View, combinator: str, branches: list[tuple[Json, str]]) -> None:
    view.keywords[combinator] = [schema for schema, _ in branches]
    if combinator == "allOf":
        view.places = tuple(pointer for _, pointer in branches)


def _merge(view: View, schema: Json, pointer: str) -> bool:
    """Take in a schema that holds as well; False, and nothing done, where one schema cannot say both.

    Titles, descriptions and the like of the view stand before the schema's.
    """
    if isinstance(schema, bool):
        view.shape = view.shape if schema else "nothing"
        return True
    if not isinstance(schema, dict):
        return False
    if not view.keywords:  # as a rule: nothing but a reference
        view.keywords.update(schema)
        view.sources.update(dict.fromkeys(schema, pointer))
        return True
    if _clashes(view, schema):
        return False
    for name, item in schema.items():
        own = view.keywords.get(name)
        if name not in view.keywords:
            view.keywords[name] = item
            view.sources[name] = pointer
        elif name == "properties" and isinstance(own, dict) and isinstance(item, dict):
            view.sources.update({f"properties/{key}": pointer for key in item if key not in own})
            view.keywords[name] = {**item, **own}
        elif name == "required":
            view.keywords[name] = [*names(own), *names(item)]
    return True


def _clashes(view: View, schema: dict[str, Json]) -> bool:
    """True when a rule of the schema cannot stand beside the view's own of that name."""
    for name, item in schema.items():
        if name not in view.keywords or name in NOTES or (name == "required" and isinstance(item, list)):
            continue
        own = view.keywords[name]
        if name == "properties" and isinstance(own, dict) and isinstance(item, dict):
            if any(not same(own[key], item[key]) for key in own.keys() & item.keys()):
                return True
        elif not same(own, item):
            return True
    return _mixes(view.keywords, schema)


def _mixes(one: dict[str, Json], other: dict[str, Json]) -> bool:
    """True when a rule would be read beside rules of the other schema, and mean something else by that."""
    for together in _TOGETHER:
        ours, theirs = together & one.keys(), together & other.keys()
        if ours and theirs and ours != theirs:
            return True
    # What is left unevaluated is seen from the outside: the inner schema's properties are not.
    return _closes(one, other, ("additionalProperties",)) or _closes(other, one, _UNDECLARED)


def _closes(one: dict[str, Json], other: dict[str, Json], undeclared: tuple[str, ...]) -> bool:
    """True when one says something of properties that it does not declare, and the other declares some."""
    if all(_accepts_anything(one.get(keyword, True)) for keyword in undeclared):
        return False
    for keyword in _DECLARING:
        known, declared = one.get(keyword), other.get(keyword)
        if (
            isinstance(declared, dict)
            and not declared.keys() <= (known if isinstance(known, dict) else {}).keys()
        ):
            return True
    return False


def _accepts_anything(schema: Json) -> bool:
    return schema is True or schema == ANYTHING


def _folded(branches: list[View]) -> View | None:
    """One view that accepts what any of the branches does; None where keywords cannot say it."""
    if not branches or any(branch.shape == "junk" for branch in branches):
        return None
    rules = [branch.rules for branch in branches]
    constants = [_constants(rule) for rule in rules]
    if None not in constants:
        keywords: dict[str, Json] = {"enum": [item for found in constants for item in found or ()]}
        if all("type" in rule for rule in rules):
            keywords["type"] = _all_types(rules)
        return View(branches[0].pointer, keywords)
    if all(rule.keys() == {"type"} for rule in rules):
        return View(branches[0].pointer, {"type": _all_types(rules)})
    others = [place for place, found in enumerate(constants) if found != [None]]
    return _nullable(branches[others[0]], rules[others[0]]) if len(others) == 1 else None


def _all_types(rules: list[dict[str, Json]]) -> list[str]:
    return list(dict.fromkeys(kind for rule in rules for kind in types(rule["type"])))


def _nullable(branch: View, rules: dict[str, Json]) -> View | None:
    """The branch, of these rules, or null."""
    if not _UNFOLDABLE.isdisjoint(rules):
        return None
    keywords = dict(branch.keywords)
    if "type" in rules:
        keywords["type"] = list(dict.fromkeys([*types(rules["type"]), "null"]))
    if "const" in rules:
        keywords["enum"] = [keywords.pop("const"), None]
    elif isinstance(rules.get("enum"), list):
        keywords["enum"] = [*rules["enum"], None]
    return View(branch.pointer, keywords, branch.sources)


def _constants(rules: dict[str, Json]) -> list[Json] | None:
    """The values of a schema that is nothing but constants (and their type); ``type: null`` is one."""
    if len(rules) == 1 and "type" in rules:
        return [None] if list(types(rules["type"])) == ["null"] else None
    if "const" in rules and rules.keys() <= {"type", "const"}:
        return [rules["const"]]
    if isinstance(rules.get("enum"), list) and rules.keys() <= {"type", "enum"}:
        return list(rules["enum"])
    return None
