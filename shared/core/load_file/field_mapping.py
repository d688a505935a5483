"""Map header names to fields of an exhibit.

Names are compared without case, spaces, underscores and other signs, because producers write them in every way. A
column that matches no field is kept as a property; no column is dropped. The id is the control number, else the
document id, else the begin Bates number; the id columns that are not used are kept as properties.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.codes import FileFailure
from core.errors import FileRefusedError

# In order of preference: the first name in the file wins. Only `custodians` and `tags` may have several columns.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "control_number": (
        *("controlnumber", "controlno", "ctrlnumber", "docid", "documentid", "docidentifier", "documentidentifier"),
        *("itemid", "upi"),
    ),
    "bates_begin": (
        *("begdoc", "begindoc", "begbates", "beginbates", "batesbeg", "batesbegin", "batesstart", "startbates"),
        *("begdocno", "firstbates", "batescontrol", "prodbeg", "prodbegin", "begprod", "beginproduction"),
        *("begno", "begnum", "beginnumber", "batesnumber", "batesno", "bates"),
    ),
    "bates_end": (
        *("enddoc", "endbates", "batesend", "batesstop", "enddocno", "lastbates", "endbatescontrol", "prodend"),
        *("endprod", "endproduction", "endno", "endnum", "endnumber"),
    ),
    "parent_control_number": (
        *("parentid", "parentdocid", "parentdocumentid", "parentcontrolnumber", "attachmentparent", "parentbates"),
        *("parentbeg", "parent"),
    ),
    "family_begin": (
        *("begattach", "begattatch", "begatty", "begingroup", "batesbeginattach", "beginattach", "begfamily"),
        *("beginfamily", "prodbegattach", "attachbeg", "batesbegattach"),
    ),
    "title": ("title", "documenttitle", "doctitle"),
    "file_name": ("filename", "originalfilename", "origfilename", "documentname"),
    "document_date": (
        *("documentdate", "docdate", "date", "datesent", "sentdate", "datetimesent", "datereceived", "receiveddate"),
        *("datecreated", "createddate", "creationdate", "datelastmodified", "lastmodifieddate", "datemodified"),
        "modifieddate",
    ),
    "native_path": ("nativepath", "nativelink", "nativefile", "nativefilepath", "filepath", "doclink", "itempath"),
    "text_path": ("textpath", "textlink", "textfile", "textfilepath", "extractedtextpath", "ocrpath"),
    "custodians": (
        *("custodian", "custodians", "custdian", "mastercustodian", "allcustodians", "dupcustodian"),
        *("dupcustodians", "dupecustodian", "dupecustodians", "duplicatecustodian", "duplicatecustodians"),
        "othercustodians",
    ),
    "tags": ("tags", "tag", "issues", "issue", "issuetags", "coded", "coding"),
}
# The fields that option `columns` accepts; `family_begin` is excluded because it only serves to find parents.
FIELDS = frozenset(SYNONYMS.keys() - {"family_begin"} | {"property"})
MULTI_COLUMN_FIELDS = frozenset({"custodians", "tags"})
MAX_LISTED_NAMES = 20
_PATH_FIELDS = frozenset({"file_name", "native_path", "text_path"})
_PATH_NAME = re.compile(r"(?:path|link|file|filename|folder)s?$")


class MappingReason(StrEnum):
    """Why a column feeds its field, or is kept as a property."""

    GIVEN = "given"
    SYNONYM = "synonym"
    PATTERN = "pattern"
    PROPERTY = "property"


@dataclass(frozen=True)
class ColumnMapping:
    """The field that a column feeds (None: the column is kept as a property), and why.

    `meaning` is the field that the name alone stands for, which another column or the option `columns` may have taken.
    """

    name: str
    field: str | None
    why: MappingReason
    meaning: str | None


def get_id_field(fields: Sequence[str | None]) -> str:
    """Return the field that holds the id: the control number, else the begin Bates number."""
    return "control_number" if "control_number" in fields else "bates_begin"


def normalise_name(name: str) -> str:
    """Return the form of a header name in which names are compared: case-folded letters and digits alone."""
    return "".join(character for character in name.casefold() if character.isalnum())


def is_path_column(name: str, field: str | None) -> bool:
    """Return whether a column holds paths or file names: by its field, or by the name of a property."""
    return field in _PATH_FIELDS or (field is None and _PATH_NAME.search(normalise_name(name)) is not None)


def name_columns(cells: Sequence[str]) -> tuple[str, ...]:
    """Return distinct names for the columns: blank names become "Column <number>", repeated names get a number."""
    repeats: dict[str, int] = {}
    names: dict[str, None] = {}
    for number, cell in enumerate(cells, start=1):
        name = base = cell.strip() or f"Column {number}"
        # Counted on from the last repeat: a header of thousands of equal names takes linear time.
        while name in names:
            repeats[base] = repeats.get(base, 1) + 1
            name = f"{base} ({repeats[base]})"
        names[name] = None
    return tuple(names)


def map_columns(names: Sequence[str], mapping: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return the field that each column feeds, or None for a property; see `explain_columns`."""
    return tuple(column.field for column in explain_columns(names, mapping))


def explain_columns(names: Sequence[str], mapping: Mapping[str, str]) -> tuple[ColumnMapping, ...]:
    """Return the field that each column feeds, and why, in file order.

    `mapping` assigns fields to columns by name or number (from 1), and overrides recognition by name.
    Raises FileRefusedError: BAD_OPTIONS if the mapping names an unknown column or maps a field twice, NO_ID_COLUMN if
    no column can be the id.
    """
    given = _apply_mapping(names, mapping)
    fields = list(given)
    _recognise_fields(names, fields)
    columns = tuple(map(_explain_column, names, given, fields))
    if not {"control_number", "bates_begin"} & {column.field for column in columns}:
        raise FileRefusedError(FileFailure.NO_ID_COLUMN, _describe_missing_id(names))
    return columns


def _explain_column(name: str, given: str | None, field: str | None) -> ColumnMapping:
    meaning = find_field(name)
    if given:
        return ColumnMapping(name, None if given == "property" else given, MappingReason.GIVEN, meaning)
    return ColumnMapping(name, field, MappingReason.SYNONYM if field else MappingReason.PROPERTY, meaning)


def find_field(name: str) -> str | None:
    """Return the field that a header name stands for; None if it is not a known name of a field."""
    normalised = normalise_name(name)
    return next((field for field, synonyms in SYNONYMS.items() if normalised in synonyms), None)


def _apply_mapping(names: Sequence[str], mapping: Mapping[str, str]) -> list[str | None]:
    fields: list[str | None] = [None] * len(names)
    by_name = {normalise_name(name): index for index, name in reversed(list(enumerate(names)))}
    for column, field in mapping.items():
        index = names.index(column) if column in names else by_name.get(normalise_name(column))
        if index is None and column.isascii() and column.isdigit() and 1 <= int(column) <= len(names):
            index = int(column) - 1
        if index is None:
            message = f"Option 'columns' names column {column!r}, which the file does not have. Use one of its columns"
            raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}, by name or number: {_list_names(names)}.")
        if field in fields and field not in MULTI_COLUMN_FIELDS and field != "property":
            message = f"Option 'columns' maps more than one column to {field}. Map one column to it."
            raise FileRefusedError(FileFailure.BAD_OPTIONS, message)
        fields[index] = field
    return fields


def _recognise_fields(names: Sequence[str], fields: list[str | None]) -> None:
    normalised = [normalise_name(name) for name in names]
    for field, synonyms in SYNONYMS.items():
        if field in fields and field not in MULTI_COLUMN_FIELDS:
            continue
        free = [index for synonym in synonyms for index, name in enumerate(normalised) if name == synonym]
        free = [index for index in free if fields[index] is None]
        for index in free if field in MULTI_COLUMN_FIELDS else free[:1]:
            fields[index] = field


def _describe_missing_id(names: Sequence[str]) -> str:
    return (
        "No column is recognised as the id (control number, document id or begin Bates). "
        'Name it in the options: {"columns": {"<name or number>": "control_number"}}. '
        f'If the file has no header line, add "header": false. The columns are: {_list_names(names)}.'
    )


def _list_names(names: Sequence[str]) -> str:
    more = "" if len(names) <= MAX_LISTED_NAMES else f" and {len(names) - MAX_LISTED_NAMES} more"
    return ", ".join(name[:40] for name in names[:MAX_LISTED_NAMES]) + more
