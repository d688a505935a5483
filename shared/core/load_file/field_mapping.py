"""Header names to fields of an exhibit.

Names are compared without case, spaces, underscores or signs, as producers write them in every way. A column that
means nothing to us has no field and is kept as a property; nothing is dropped. The id is the control number, else the
document id, else the begin Bates; the columns that were passed over are kept as properties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import FileRefusedError
from core.reasons import FileFailure

# In order of preference; the first that a file has wins, and only `custodians` and `tags` may have several columns.
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
# What a mapping may name: a family's beginning only helps to find parents.
FIELDS = frozenset(SYNONYMS.keys() - {"family_begin"} | {"property"})
SEVERAL = frozenset({"custodians", "tags"})
NAMES_IN_A_MESSAGE = 20


def id_field(fields: Sequence[str | None]) -> str:
    """The field that holds the id: the control number's, else the begin Bates'."""
    return "control_number" if "control_number" in fields else "bates_begin"


def normalised(name: str) -> str:
    """A header name as names are compared: lower-case letters and digits alone."""
    return "".join(character for character in name.casefold() if character.isalnum())


def column_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Distinct names for the columns: a blank one is named by its place, a repeated one gets a number."""
    names: list[str] = []
    taken: set[str] = set()
    for place, cell in enumerate(cells, start=1):
        name = base = cell.strip() or f"Column {place}"
        repeat = 2
        while name in taken:
            name, repeat = f"{base} ({repeat})", repeat + 1
        taken.add(name)
        names.append(name)
    return tuple(names)


def map_columns(names: Sequence[str], given: Mapping[str, str]) -> tuple[str | None, ...]:
    """The field that each column feeds, or None for a property; `given` overrides, by name or number from 1.

    Raises FileRefusedError: BAD_OPTIONS for a given column that is not there or a field given twice, NO_ID_COLUMN if
    no column can be the id.
    """
    fields = _given_fields(names, given)
    _recognise(names, fields)
    mapped = tuple(None if field == "property" else field for field in fields)
    if not {"control_number", "bates_begin"} & set(mapped):
        raise FileRefusedError(FileFailure.NO_ID_COLUMN, _no_id(names))
    return mapped


def _given_fields(names: Sequence[str], given: Mapping[str, str]) -> list[str | None]:
    fields: list[str | None] = [None] * len(names)
    by_name = {normalised(name): index for index, name in reversed(list(enumerate(names)))}
    for column, field in given.items():
        index = names.index(column) if column in names else by_name.get(normalised(column))
        if index is None and column.isascii() and column.isdigit() and 1 <= int(column) <= len(names):
            index = int(column) - 1
        if index is None:
            message = f"the mapping names column {column!r}, which is not among: {_shown(names)}"
            raise FileRefusedError(FileFailure.BAD_OPTIONS, message)
        if field in fields and field not in SEVERAL and field != "property":
            raise FileRefusedError(FileFailure.BAD_OPTIONS, f"the mapping gives {field} to more than one column")
        fields[index] = field
    return fields


def _recognise(names: Sequence[str], fields: list[str | None]) -> None:
    plain = [normalised(name) for name in names]
    for field, synonyms in SYNONYMS.items():
        if field in fields:
            continue
        free = [index for synonym in synonyms for index, name in enumerate(plain) if name == synonym]
        free = [index for index in free if fields[index] is None]
        for index in free if field in SEVERAL else free[:1]:
            fields[index] = field


def _no_id(names: Sequence[str]) -> str:
    return (
        f"no column is recognised as the id (control number, document id or begin Bates) among: {_shown(names)}. "
        'Name it in the mapping: {"columns": {"<name or number>": "control_number"}}; '
        'if the file has no header line, add "header": false'
    )


def _shown(names: Sequence[str]) -> str:
    more = "" if len(names) <= NAMES_IN_A_MESSAGE else f" and {len(names) - NAMES_IN_A_MESSAGE} more"
    return ", ".join(name[:40] for name in names[:NAMES_IN_A_MESSAGE]) + more
