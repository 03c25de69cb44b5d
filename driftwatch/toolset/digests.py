"""The digests of a tool list: what is compared, stored and quoted. docs/fingerprint.md specifies them."""

from hashlib import sha256

from driftwatch.model import Fingerprint
from driftwatch.toolset.canonical import ALGORITHM, canonical
from driftwatch.toolset.checklist import checklist_digest
from driftwatch.toolset.further import further_form
from driftwatch.toolset.tools import Entry, Toolset, name_of


def fingerprint(toolset: Toolset) -> Fingerprint:
    """The three digests of a complete tool list. The caller vouches that it is complete."""
    ordered = sorted(toolset.entries, key=lambda entry: entry.order)
    contract = ",".join(entry.contract for entry in ordered)
    surface = ",".join(entry.surface for entry in ordered)
    return Fingerprint(
        algorithm=ALGORITHM,
        contract=_digest(f"[{contract}]"),
        surface=_digest(
            f'{{"instructions":{canonical(toolset.instructions)}{further_form(toolset)},"tools":[{surface}]}}'
        ),
        checklist=checklist_digest(toolset.tools),
    )


def tool_digests(toolset: Toolset) -> tuple[tuple[str, str], ...]:
    """Each tool's name and the hex SHA-256 of its contract and surface together, in the list's order."""
    return tuple((name_of(entry.tool), _whole(entry)) for entry in toolset.entries)


def _whole(entry: Entry) -> str:
    return _digest(f"[{entry.contract},{entry.surface}]")


def _digest(form: str) -> str:
    return sha256(form.encode("ascii")).hexdigest()
