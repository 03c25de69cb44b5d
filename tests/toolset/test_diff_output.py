"""Edits to an output schema, judged for its readers: each is one change, with its class and its words."""

import pytest

from tests.toolset.scene import Case, case, check

CASES = [
    case(
        "another type of output items",
        lambda s: s.output()["properties"]["lines"].update(items={"type": "object"}),
        "breaking output-type-changed /outputSchema/properties/lines/items/type",
        '"create_order": output "lines[]" is now object (was string)',
    ),
    case(
        "an output schema added",
        lambda s: s.tool("ping").update(outputSchema={"type": "object"}),
        "compatible output-added /outputSchema",
        '"ping": an output schema was added',
    ),
    case(
        "an output schema removed",
        lambda s: s.tool("create_order").pop("outputSchema"),
        "breaking output-removed /outputSchema",
        '"create_order": the output schema was removed',
    ),
    case(
        "an output property lost",
        lambda s: s.output()["properties"].pop("lines"),
        "breaking output-property-dropped /outputSchema/properties/lines",
        '"create_order": output property "lines" (array, optional) dropped',
    ),
    case(
        "an output property added",
        lambda s: s.output()["properties"].update(tax={"type": "number"}),
        "compatible output-property-added /outputSchema/properties/tax",
        '"create_order": output property "tax" (number, optional) added',
    ),
    case(
        "an output property that may be missing",
        lambda s: s.output().update(required=["id"]),
        "breaking output-optional /outputSchema/required",
        '"create_order": output "total" is no longer always there',
    ),
    case(
        "an output property that is always there",
        lambda s: s.output()["required"].append("state"),
        "compatible output-required /outputSchema/required",
        '"create_order": output "state" is now always there',
    ),
    case(
        "an output type widened",
        lambda s: s.output()["properties"]["total"].update(type=["integer", "null"]),
        "breaking output-type-widened /outputSchema/properties/total/type",
        '"create_order": output "total" may now be null',
    ),
    case(
        "an output type narrowed",
        lambda s: s.output()["properties"]["id"].update(enum=["a"]),
        "compatible output-values-removed /outputSchema/properties/id/enum",
        '"create_order": output "id" is now "a"',
    ),
    case(
        "an output value added",
        lambda s: s.output()["properties"]["state"]["enum"].append("lost"),
        "breaking output-values-added /outputSchema/properties/state/enum",
        '"create_order": output "state" may now also be "lost"',
    ),
    case(
        "an output limit loosened",
        lambda s: s.output()["properties"]["total"].update(maximum=2000),
        "breaking output-limit-loosened /outputSchema/properties/total/maximum",
        '"create_order": output "total" may now be at most 2000 (was 1000)',
    ),
    case(
        "an output that is strict",
        lambda s: s.output().update(additionalProperties=False),
        "compatible output-additional-properties /outputSchema/additionalProperties",
        '"create_order": unknown properties of the output are no longer possible',
    ),
    case(
        "an output text",
        lambda s: s.output()["properties"]["id"].update(description="Order number"),
        "text output-text /outputSchema/properties/id/description",
        '"create_order": description of output "id" added: "Order number"',
    ),
]


@pytest.mark.parametrize("edit", CASES, ids=str)
def test_an_edit_to_output_is_one_change_with_its_class_and_its_words(edit: Case) -> None:
    check(edit)
