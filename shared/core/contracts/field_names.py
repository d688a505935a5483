"""The fields that a column can be mapped to, with what a client shows of them.

Guaranteed: each field that the option `columns` accepts has a title and a description, or the module fails.
"""

from __future__ import annotations

from typing import Any

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import TEXT_FIELDS
from core.load_file.field_mapping import FIELDS
from core.load_file.header_names import TIME_FIELDS

_DATES = dict(
    zip(
        DATE_FIELDS,
        (
            "The date of the document; without it, the first of the other dates that a row has",
            "When it was sent",
            "When it was received",
            "When the file was created",
            "When the file was last modified",
        ),
        strict=True,
    )
)
_DESCRIPTIONS = {
    "control_number": "The id of the document, unique in the case",
    "bates_begin": "The first Bates number; the id, if no column is the control number",
    "bates_end": "The last Bates number",
    "parent_control_number": "The id of the document that this one is attached to",
    "family_range": "The Bates range of the family, or its first number",
    "family_group": "An id that all documents of a family have",
    "family_members": "The ids of the documents that are attached to this one",
    **{text.name: text.description for text in TEXT_FIELDS},
    **_DATES,
    **{time: f"The time of day of {date}, if its column has the day alone" for date, time in TIME_FIELDS.items()},
    "custodians": "The people or places that the document was collected from; may be several columns",
    "tags": "Tags or issues; may be several columns",
    "extracted_text": "The text of the document itself; may be several columns, joined in their order",
    "property": "No field: the column is kept under its name",
}
# In the order in which a client offers them.
FIELD_NAMES = tuple(_DESCRIPTIONS)
if set(FIELD_NAMES) != FIELDS:
    raise TypeError(f"fields without a description, or descriptions without a field: {set(FIELD_NAMES) ^ FIELDS}")


def describe_fields() -> dict[str, Any]:
    """Return the JSON schema of a field's name: the names, and each with its title and description."""
    described = [
        {"const": name, "title": name.replace("_", " ").capitalize(), "description": f"{text}."}
        for name, text in _DESCRIPTIONS.items()
    ]
    return {"type": "string", "enum": list(FIELD_NAMES), "oneOf": described}
