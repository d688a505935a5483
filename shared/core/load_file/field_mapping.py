"""Map header names to fields of an exhibit.

Names are compared without case, spaces, underscores and other signs, because producers write them in every way. A
column that matches no field is kept as a property; no column is dropped. The id is the control number, else the
document id, else the begin Bates number, else a column that may be an id, such as "Document Number"; the id columns
that are not used are kept as properties. Of several columns for a field the one with the most specific name is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from core.cells.later_names import BY_CONTENT, LATER_NAMES, decide_fields, find_paths
from core.exhibit_dates import EVENT_DATES
from core.exhibit_fields import TEXT_FIELDS
from core.load_file.given_columns import (
    MULTI_COLUMN_FIELDS,
    NoIdColumnError,
    ProfileUse,
    apply_mapping,
    apply_profile,
    refuse_line_column,
)
from core.load_file.header_names import (
    LAST_DATE_RANK,
    PRODUCTION_FIELDS,
    SYNONYMS,
    TIME_FIELDS,
    compile_fallback_id,
    compile_patterns,
    normalise_name,
)
from core.texts.cells import EXTRACTED_TEXT

# The fields that option `columns` accepts; `family_begin` is excluded because it only serves to find parents.
FIELDS = frozenset(SYNONYMS.keys() - {"family_begin"} | {"property"})
# The last column of an error file, and its field: not one of FIELDS, because its cells are not values of an exhibit.
LINE_COLUMN, ORIGINAL_LINE = "ExhibitIngestLine", "original_line"
MAX_RECOGNISED_CHARACTERS = 100
_PATH_FIELDS = frozenset(text.name for text in TEXT_FIELDS if text.is_path)
_PATH_NAME = re.compile(r"(?:path|link|(?<!pro)file|folder)s?$")
# With the number that `name_columns` gives a repeated name.
_REPEATED = re.compile(r" \([0-9]+\)\Z")
_LINE_COLUMN = re.compile(rf"{LINE_COLUMN.casefold()}\d*")


class MappingReason(StrEnum):
    """Why a column feeds its field, or is kept as a property."""

    GIVEN = "given"
    PROFILE = "profile"
    SYNONYM = "synonym"
    PATTERN = "pattern"
    CONTENT = "content"
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


def is_line_column(name: str) -> bool:
    """Return whether a column has the name of the last column of an error file."""
    return _LINE_COLUMN.fullmatch(normalise_name(name)) is not None


def is_path_column(name: str, field: str | None) -> bool:
    """Return whether a column holds paths or file names: by its field, or by the name of a property."""
    return field in _PATH_FIELDS or (field is None and _PATH_NAME.search(normalise_name(name)) is not None)


def map_columns(names: Sequence[str], mapping: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return the field that each column feeds, or None for a property; see `explain_columns`."""
    return tuple(column.field for column in explain_columns(names, mapping))


def explain_columns(
    names: Sequence[str], mapping: Mapping[str, str], profile: ProfileUse | None = None, *, with_later: bool = True
) -> tuple[ColumnMapping, ...]:
    """Return the field that each column feeds, and why, in file order.

    `mapping` assigns fields to columns by name or number (from 1), and overrides `profile`, which overrides recognition
    by name. The last column of an error file, recognised by its name, has the field ORIGINAL_LINE. Unless `with_later`,
    only the names count that the versions before `core.cells.later_names` knew.
    Raises FileRefusedError: BAD_OPTIONS if the mapping names an unknown column or maps a field twice, or does not name
    a column of that name before the last one; PROFILE_MISMATCH if the file lacks columns of the profile; NO_ID_COLUMN
    if no column can be the id.
    """
    own = apply_mapping(names, mapping)
    by_profile = apply_profile(names, profile, own) if profile else [None] * len(names)
    given = [field or other for field, other in zip(own, by_profile, strict=True)]
    fields = list(given)
    lines = [index for index, name in enumerate(names) if given[index] is None and is_line_column(name)]
    if lines and lines[0] < len(names) - 1:
        refuse_line_column(names, lines[0])
    if lines:
        fields[-1] = ORIGINAL_LINE
    _recognise_fields(names, fields)
    if with_later:
        _recognise_later_names(names, fields)
    _drop_times_without_date(given, fields)
    reasons = [MappingReason.GIVEN if field else MappingReason.PROFILE for field in own]
    columns = tuple(map(_explain_column, names, given, reasons, fields))
    if not {"control_number", "bates_begin"} & {column.field for column in columns}:
        raise NoIdColumnError(names)
    return columns


def _explain_column(name: str, given: str | None, reason: MappingReason, field: str | None) -> ColumnMapping:
    found = find_meaning(name)
    meaning = find_field(name)
    if given:
        return ColumnMapping(name, None if given == "property" else given, reason, meaning)
    if field == ORIGINAL_LINE:
        return ColumnMapping(name, field, MappingReason.SYNONYM, field)
    is_later = found is None and field is not None and field == meaning
    why = found.why if found else MappingReason.SYNONYM if is_later else MappingReason.PATTERN
    why = MappingReason.PROPERTY if field is None else why
    return ColumnMapping(name, field, why, meaning)


def find_field(name: str) -> str | None:
    """Return the field that a header name stands for; None if it is not a known name of a field."""
    found = find_meaning(name)
    return found.field if found else _LATER_FIELDS.get(normalise_name(name))


def is_last_choice(name: str) -> bool:
    """Return whether a column of this name gets its field only in a file that has no other column of the field."""
    return find_meaning(name) is None and find_field(name) not in MULTI_COLUMN_FIELDS


class Meaning(NamedTuple):
    """The field of a name, its preference among the names of the field (0 is first), and how it was found."""

    field: str
    rank: int
    why: MappingReason


_SYNONYM_RANKS = {
    synonym: (field, rank) for field, synonyms in SYNONYMS.items() for rank, synonym in enumerate(synonyms)
}


_LATER_FIELDS = {name: field for field, names in LATER_NAMES.items() for name in names}


@lru_cache(maxsize=20_000)
def find_meaning(name: str) -> Meaning | None:
    """Return the meaning of a header name, None if it has none; a name that begins with # is a count."""
    if len(name) > MAX_RECOGNISED_CHARACTERS:
        return None
    synonym = None if name.lstrip().startswith("#") else _SYNONYM_RANKS.get(normalise_name(name))
    if synonym:
        return Meaning(*synonym, MappingReason.SYNONYM)
    production, _, own = name.rpartition("::")
    found = _match_pattern(name)
    if found is None and production and (inner := _match_pattern(own)) and inner.field in PRODUCTION_FIELDS:
        found = inner._replace(rank=inner.rank + len(_SYNONYM_RANKS))
    return found


def _match_pattern(name: str) -> Meaning | None:
    spelled = normalise_name(name.replace("#", " number "))
    if spelled in _SYNONYM_RANKS:
        return Meaning(*_SYNONYM_RANKS[spelled], MappingReason.PATTERN)
    ranked = ((field, rank, form) for field, forms in compile_patterns().items() for rank, form in enumerate(forms))
    matches = ((field, rank) for field, rank, form in ranked if form.fullmatch(spelled))
    return next((Meaning(field, len(SYNONYMS[field]) + rank, MappingReason.PATTERN) for field, rank in matches), None)


def _recognise_fields(names: Sequence[str], fields: list[str | None]) -> None:
    meanings = [find_meaning(name) for name in names]
    for field in SYNONYMS:
        if field in fields and field not in MULTI_COLUMN_FIELDS:
            continue
        ranks = [(found.rank, index) for index, found in enumerate(meanings) if found and found.field == field]
        if field == "control_number" and any(map(_is_known_bates, meanings)):
            # A name that only resembles a control number must not take the id from a known begin Bates number.
            ranks = [(rank, index) for rank, index in ranks if rank < len(SYNONYMS[field])]
        if field == "document_date" and any(map(_is_event_date, meanings, fields)):
            ranks = [(rank, index) for rank, index in ranks if rank < LAST_DATE_RANK]
        free = [index for _, index in sorted(ranks) if fields[index] is None]
        for index in free if field in MULTI_COLUMN_FIELDS else free[:1]:
            fields[index] = field
    if not {"control_number", "bates_begin"} & set(fields):
        free = [index for index, field in enumerate(fields) if field is None]
        for index in [index for index in free if _may_be_id(names[index])][:1]:
            fields[index] = "control_number"


def _recognise_later_names(names: Sequence[str], fields: list[str | None]) -> None:
    """Give columns the fields of names that earlier versions did not know.

    A field that has a column gets no other one, but custodians and tags get the other columns of the same name.
    """
    for index, name in enumerate(names):
        # The second column of this name, which `name_columns` has numbered.
        meaning = find_field(_REPEATED.sub("", name)) if _REPEATED.search(name) else None
        if fields[index] is None and meaning in MULTI_COLUMN_FIELDS:
            fields[index] = meaning
    folded = [normalise_name(name) for name in names]
    for field, later in LATER_NAMES.items():
        if field in fields:
            continue
        ranks = [(later.index(name), index) for index, name in enumerate(folded) if name in later]
        free = [index for _, index in sorted(ranks) if fields[index] is None]
        for index in free if field in MULTI_COLUMN_FIELDS else free[:1]:
            fields[index] = field


def decide_by_content(
    columns: Sequence[ColumnMapping], records: Iterable[Sequence[str] | None]
) -> tuple[ColumnMapping, ...]:
    """Return the columns with fields for names whose cells decide what they mean, from the first records of the file.

    A field that has a column keeps it. Records are read only if a column has such a name.
    """
    fields = [column.field for column in columns]
    free = {index: column.name for index, column in enumerate(columns) if column.why is MappingReason.PROPERTY}
    named = {index: normalise_name(name) for index, name in free.items()}
    decided = decide_fields(named, fields, fields.index(get_id_field(fields)), records)
    return tuple(
        replace(column, field=decided[index], why=MappingReason.CONTENT) if index in decided else column
        for index, column in enumerate(columns)
    )


def is_decided_by_content(name: str) -> bool:
    """Return whether the cells of a column with this name decide what it means."""
    return any(normalise_name(name) in names for _, names in BY_CONTENT.values())


def _drop_times_without_date(given: Sequence[str | None], fields: list[str | None]) -> None:
    """Keep a recognised column of times as a property if the file has no column of their dates."""
    for date, time in TIME_FIELDS.items():
        if date not in fields and time not in given and time in fields:
            fields[fields.index(time)] = None


def leave_out_paths(
    columns: tuple[ColumnMapping, ...], records: Iterable[Sequence[str] | None]
) -> tuple[ColumnMapping, ...]:
    """Return the columns with those as properties whose names mean the text, and whose cells are paths.

    `records` are the first ones. What the uploader says a column is, is not changed.
    """
    recognised = (MappingReason.SYNONYM, MappingReason.PATTERN)
    texts = [i for i, column in enumerate(columns) if column.field == EXTRACTED_TEXT and column.why in recognised]
    paths = find_paths(texts, records)
    left_out = {index: replace(columns[index], field=None, why=MappingReason.PROPERTY) for index in paths}
    return tuple(left_out.get(index, column) for index, column in enumerate(columns))


def _is_known_bates(found: Meaning | None) -> bool:
    return found is not None and found.field == "bates_begin" and found.rank < len(SYNONYMS["bates_begin"])


def _is_event_date(found: Meaning | None, field: str | None) -> bool:
    return found is not None and found.field in EVENT_DATES and field in (None, *EVENT_DATES)


def _may_be_id(name: str) -> bool:
    return compile_fallback_id().fullmatch(normalise_name(name.replace("#", " number "))) is not None
