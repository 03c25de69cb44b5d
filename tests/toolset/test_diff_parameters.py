"""Edits to the parameters of a tool (names, types, rules): each is one change in its words."""

import pytest

from tests.toolset.scene import Case, Scene, case, check, item_schema


def rename_parameter(s: Scene) -> None:
    parameters = s.parameters("search")
    parameters["text"] = parameters.pop("query")
    s.tool("search")["inputSchema"]["required"] = ["text"]


CASES = [
    case(
        "a new required parameter",
        lambda s: (
            s.parameters("status").update(region={"type": "string"}),
            s.tool("status")["inputSchema"]["required"].append("region"),
        ),
        "breaking parameter-added /inputSchema/properties/region",
        '"status": parameter "region" (string, required) added',
    ),
    case(
        "a new optional parameter",
        lambda s: s.parameters("status").update(region={"type": ["string", "null"]}),
        "compatible parameter-added /inputSchema/properties/region",
        '"status": parameter "region" (string or null, optional) added',
    ),
    case(
        "another type",
        lambda s: s.parameters("search").update(limit={"type": "string", "default": 20}),
        "breaking type-changed /inputSchema/properties/limit/type",
        '"search": "limit" is now string (was integer)',
    ),
    case(
        "a parameter dropped",
        lambda s: s.parameters("create_order").pop("note"),
        "breaking parameter-dropped /inputSchema/properties/note",
        '"create_order": parameter "note" (string, optional) dropped',
    ),
    case(
        "additionalProperties false",
        lambda s: s.tool("status")["inputSchema"].update(additionalProperties=False),
        "breaking additional-properties /inputSchema/additionalProperties",
        '"status": unknown parameters are now refused',
    ),
    case(
        "a parameter renamed",
        rename_parameter,
        "breaking parameter-renamed /inputSchema/properties/text",
        '"search": parameter "query" renamed to "text"',
    ),
    case(
        "a nested parameter dropped",
        lambda s: item_schema(s).update(
            properties={"sku": item_schema(s)["properties"]["sku"]}, required=["sku"]
        ),
        "breaking parameter-dropped /inputSchema/properties/items/items/properties/qty",
        '"create_order": parameter "items[].qty" (integer, required) dropped',
    ),
    case(
        "a parameter now required",
        lambda s: s.tool("search")["inputSchema"]["required"].append("limit"),
        "breaking required /inputSchema/required",
        '"search": "limit" is now required',
    ),
    case(
        "a parameter no longer required",
        lambda s: s.tool("create_order")["inputSchema"].update(required=["customer"]),
        "compatible optional /inputSchema/required",
        '"create_order": "items" is no longer required',
    ),
    case(
        "an undeclared name required",
        lambda s: s.tool("status")["inputSchema"]["required"].append("token"),
        "breaking required /inputSchema/required",
        '"status": "token" is now required',
    ),
    case(
        "integer widened to number",
        lambda s: s.parameters("search")["limit"].update(type="number"),
        "compatible type-widened /inputSchema/properties/limit/type",
        '"search": "limit" may now be number (was integer)',
    ),
    case(
        "number narrowed to integer",
        lambda s: s.parameters("search").update(
            score={"type": "integer", "exclusiveMinimum": 0, "multipleOf": 0.5}
        ),
        "breaking type-narrowed /inputSchema/properties/score/type",
        '"search": "score" must now be integer (was number)',
    ),
    case(
        "null accepted, as a list of types",
        lambda s: s.parameters("search")["query"].update(type=["null", "string"]),
        "compatible type-widened /inputSchema/properties/query/type",
        '"search": "query" may now be null',
    ),
    case(
        "null accepted, as a union",
        lambda s: s.parameters("search").update(
            query={"anyOf": [{"type": "string"}, {"type": "null"}], "description": "What to look for"}
        ),
        "compatible type-widened /inputSchema/properties/query/anyOf/0/type",
        '"search": "query" may now be null',
    ),
    case(
        "null refused",
        lambda s: s.parameters("search")["area"].update(type="string"),
        "breaking type-narrowed /inputSchema/properties/area/type",
        '"search": "area" may no longer be null',
    ),
    case(
        "one more type",
        lambda s: s.parameters("search")["query"].update(type=["string", "array"]),
        "compatible type-widened /inputSchema/properties/query/type",
        '"search": "query" may now be string or array (was string)',
    ),
    case(
        "no type any more",
        lambda s: s.parameters("create_order").update(note={}),
        "compatible type-widened /inputSchema/properties/note/type",
        '"create_order": "note" may now be any type (was string)',
    ),
    case(
        "an item type",
        lambda s: s.parameters("search")["tags"].update(items={"type": "integer"}),
        "breaking type-changed /inputSchema/properties/tags/items/type",
        '"search": "tags[]" is now integer (was string)',
    ),
    case(
        "true as a schema",
        lambda s: s.parameters("create_order").update(note=True),
        "compatible type-widened /inputSchema/properties/note/type",
        '"create_order": "note" may now be any type (was string)',
    ),
    case(
        "false as a schema",
        lambda s: s.parameters("create_order").update(note=False),
        "breaking rule-tightened /inputSchema/properties/note",
        '"create_order": "note" is now refused',
    ),
    case(
        "unknown properties accepted, nested",
        lambda s: s.parameters("search")["filter"].pop("additionalProperties"),
        "compatible additional-properties /inputSchema/properties/filter/additionalProperties",
        '"search": unknown properties of "filter" are now accepted',
    ),
    case(
        "unknown parameters of one type",
        lambda s: s.tool("ping")["inputSchema"].update(additionalProperties={"type": "string"}),
        "compatible additional-properties /inputSchema/additionalProperties",
        '"ping": unknown parameters may now be string',
    ),
    case(
        "a dependency",
        lambda s: s.tool("search")["inputSchema"].update(dependentRequired={"score": ["mode"]}),
        "breaking rule-tightened /inputSchema/dependentRequired/score",
        '"search": "score" now needs "mode" beside it',
    ),
    case(
        "a rule not",
        lambda s: s.parameters("create_order")["note"].update({"not": {"const": ""}}),
        "breaking rule-tightened /inputSchema/properties/note/not",
        '"create_order": "note" has a new rule, "not"',
    ),
    case(
        "a malformed rule",
        lambda s: s.parameters("search")["limit"].update(maximum="100"),
        "breaking rule-changed /inputSchema/properties/limit/maximum",
        '"search": "maximum" of "limit" is now "100" (was 100): malformed',
    ),
]


@pytest.mark.parametrize("edit", CASES, ids=str)
def test_an_edit_to_parameters_is_one_change_with_its_class_and_its_words(edit: Case) -> None:
    check(edit)
