"""Where a check comes from: one of two documents for operators of MCP servers, or this project."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document that checks refer to by number."""

    title: str
    url: str
    item: str
    """What it calls one of its entries."""
    count: int


DOCUMENTS = {
    "checks-reference": Document(
        title="HeyMCP checks reference", url="https://docs.heymcp.dev", item="rule", count=11
    ),
    "launch-checklist": Document(
        title="Remote MCP server launch checklist", url="https://mcpcheckup.com", item="item", count=13
    ),
}


@dataclass(frozen=True, slots=True)
class Source:
    """One place in one document, or ``driftwatch`` itself."""

    document: str
    """A key of DOCUMENTS, or ``driftwatch`` for a check that goes beyond both documents."""
    number: int = 0
    """Which entry, counted from 1 in the document's order."""
    own_id: bool = False
    """True where the document's entry has no id, so that the check's id is driftwatch's own."""

    def __post_init__(self) -> None:
        """Raise ValueError for an entry that the document does not have."""
        if self.document == "driftwatch":
            return
        if not 1 <= self.number <= DOCUMENTS[self.document].count:
            raise ValueError(f"{self.document} has no entry {self.number}")

    def __str__(self) -> str:
        if self.document == "driftwatch":
            return "driftwatch"
        document = DOCUMENTS[self.document]
        note = " (the id is driftwatch's own)" if self.own_id else ""
        return f"{document.title}, {document.item} {self.number}{note}"


def rule(number: int, *, own_id: bool = False) -> Source:
    """A rule of the checks reference."""
    return Source("checks-reference", number, own_id)


def item(number: int) -> Source:
    """An item of the launch checklist."""
    return Source("launch-checklist", number)


OWN = Source("driftwatch")
"""A check that neither document has."""
