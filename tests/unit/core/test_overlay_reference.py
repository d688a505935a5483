"""Rows of all kinds overlay documents as a slow reference does, and change nothing when they come again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.exhibit_fields import KEYS, TEXT_FIELDS, TEXTS
from core.imports.overlay import OverlaidDocument
from tests.unit.core.overlaid_files import CLEAR, KEEP, Cells, overlaid, parsed

DATES = ("", " ", "2001-01-31", "2001-02-31", "2001-01-31 10:00", "2002-02-28")
IDS = ("", "  ", "A-1", " N-2", "N-3")
WORDS = ("", " ", "one", "One", "one ", "<nil>")
COLUMNS: dict[str, tuple[str, ...]] = {
    "Bates Begin": IDS,
    "Bates End": IDS,
    "Parent ID": IDS,
    "BegAttach": IDS,
    "Title": WORDS,
    "File Name": WORDS,
    "Native Path": WORDS,
    **{text.heading: WORDS for text in TEXT_FIELDS if text.heading},
    "Author": WORDS,
    "Custodian": WORDS,
    "Tags": WORDS,
    "Document Date": DATES,
    "Date Sent": DATES,
    "Date Received": DATES,
    "Document Time": ("", " ", "11:00", "noon"),
    "Time Sent": ("", "12:00"),
}
LATER = {text.heading: text.name for text in TEXT_FIELDS if text.heading}
_NAMES = ("Bates Begin", "Bates End", "Parent ID", "Title", "File Name", "Native Path")
FIELDS = dict(zip(_NAMES, (*KEYS[1:], *TEXTS), strict=False)) | LATER
ROWS = st.lists(st.sampled_from(sorted(COLUMNS)), unique=True).flatmap(
    lambda names: st.fixed_dictionaries(
        {"Control Number": st.just("A-1"), **{n: st.sampled_from(COLUMNS[n]) for n in names}}
    )
)


def _expected(stored: OverlaidDocument, cells: Cells, new: OverlaidDocument, clears: bool) -> OverlaidDocument:
    """The reference: one cell after the other, in a copy of the document."""
    fields, properties = dict(stored.fields), dict(stored.properties)
    dates = {"Document Date": "document_date", "Date Sent": "date_sent", "Date Received": "date_received"}
    for name, cell in cells.items():
        blank = cell.strip(" \t\r\n\v\f") == ""
        if blank and not clears:
            continue
        if name in FIELDS:
            field = FIELDS[name]
            fields[field] = None if blank and field in TEXTS else new.fields[field]
        if name in dates:
            date = dates[name]
            fields[date], fields[f"{date}_precision"] = new.fields[date], new.fields[f"{date}_precision"]
        if name in LATER:
            properties.pop(name, None)
        if FIELDS.get(name) in TEXTS:
            continue
        properties.pop(name, None)
        if name in new.properties and (not blank or (name in FIELDS and new.fields[FIELDS[name]])):
            properties[name] = new.properties[name]
    source, own = stored.fields["document_date_source"], cells.get("Document Date")
    if own is not None and (own.strip() or clears):
        fields["document_date_source"] = None
    elif source and source in dates.values():
        fields["document_date"], fields["document_date_precision"] = fields[source], fields[f"{source}_precision"]
        fields["document_date_source"] = source if fields[source] else None
    return OverlaidDocument(fields, properties)


@given(ROWS, ROWS, st.booleans(), st.booleans())
def test_a_row_does_what_a_dictionary_would_do(first: Cells, second: Cells, clears: bool, earlier: bool) -> None:
    # Earlier versions kept later texts as properties.
    properties = dict.fromkeys(first.keys() & LATER.keys(), "property") if earlier else {}
    before = parsed(first, {"columns": properties}).document
    row = parsed(second, CLEAR if clears else KEEP)
    after = overlaid(before, row)
    assert after == _expected(before, second, row.document, clears)
    assert overlaid(after, row) == after


@given(ROWS, st.booleans())
def test_the_row_that_created_a_document_changes_nothing(cells: Cells, clears: bool) -> None:
    row = parsed(cells, CLEAR if clears else KEEP)
    assert overlaid(row.document, row) == row.document or not row.overlay.is_as_new(row.cells)
    assert clears or overlaid(row.document, row) == row.document
