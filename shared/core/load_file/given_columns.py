"""Assign fields to columns as the uploader says: with the option `columns`, or with a mapping profile.

Guaranteed: the option overrides the profile, column by column and field by field; a profile applies as a whole or not
at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file.encoding import replace_surrogates
from core.load_file.header_names import normalise_name
from core.load_mode import LoadMode, OverlayKey
from core.texts.cells import EXTRACTED_TEXT

NAME_FIELDS = frozenset({"custodians", "tags"})
MULTI_COLUMN_FIELDS = NAME_FIELDS | {EXTRACTED_TEXT}
MAX_LISTED_NAMES = 20
# Of the columns that a program offers to a person.
SHOWN_COLUMNS, SHOWN_CHARACTERS = 300, 100
# The columns of a file without a header are called Column 1, Column 2 and so on.
_NUMBER = re.compile("(?:column)?[0-9]+")


class NoIdColumnError(FileRefusedError):
    """No column can be the id; `columns` are the names of the first ones, cut at 100 characters, without surrogates."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            FileFailure.NO_ID_COLUMN,
            "No column is recognised as the id (control number, document id or begin Bates). "
            "Say which column it is: map it to control_number with option 'columns'. If the file has no header line, "
            f"set option 'header' to false. The columns are: {list_names(names)}.",
        )
        self.columns = [replace_surrogates(name[:SHOWN_CHARACTERS]) for name in names[:SHOWN_COLUMNS]]


@dataclass(frozen=True)
class ProfileUse:
    """The copy of a mapping profile that an import uses: its name and version, and the fields of its columns."""

    name: str
    version: int
    columns: Mapping[str, str] = field(default_factory=dict)


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


def check_columns(columns: Mapping[str, str], load_mode: LoadMode, *, has_header: bool) -> None:
    """Raise FileRefusedError (BAD_OPTIONS) for an option `columns` that no file can have.

    A field other than custodians, tags and the text has one column, a file without a header has columns by number, and
    an overlay by Bates number has no control numbers.
    """
    refused = None
    single = Counter(field for field in columns.values() if field not in MULTI_COLUMN_FIELDS and field != "property")
    twice = next((field for field, count in single.items() if count > 1), None)
    named = next((column for column in columns if not _NUMBER.fullmatch(normalise_name(column))), None)
    if twice:
        refused = f"maps more than one column to {twice}. Map one column to it."
    elif named is not None and not has_header:
        reason = 'with "header": false columns have no names'
        refused = f"names column {named[:100]!r}, but {reason}. Give its number, from 1, or remove 'header'."
    elif load_mode.overlay_key is OverlayKey.BATES_BEGIN and "control_number" in columns.values():
        advice = 'Map the column to "property", or use control_number as the key.'
        refused = f'maps a column to control_number, but "overlay_key" is bates_begin. {advice}'
    if refused:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"Option 'columns' {refused}")


def compute_header_fingerprint(names: Sequence[str], delimiter: str) -> str:
    """Return the SHA-256 of the delimiter and of the normalised names in their order, in hexadecimal."""
    return hashlib.sha256(json.dumps([delimiter, *map(normalise_name, names)]).encode()).hexdigest()


def apply_mapping(names: Sequence[str], mapping: Mapping[str, str]) -> list[str | None]:
    """Return the field that the option `columns` gives to each column, None where it names none.

    Raises FileRefusedError (BAD_OPTIONS) if it names an unknown column or maps a field twice.
    """
    fields: list[str | None] = [None] * len(names)
    for column, index in _find_columns(names, mapping).items():
        field = mapping[column]
        if index is None:
            message = f"Option 'columns' names column {column!r}, which the file does not have. Use one of its columns"
            raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}, by name or number: {list_names(names)}.")
        if field in fields and field not in MULTI_COLUMN_FIELDS and field != "property":
            message = f"Option 'columns' maps more than one column to {field}. Map one column to it."
            raise FileRefusedError(FileFailure.BAD_OPTIONS, message)
        fields[index] = field
    return fields


def apply_profile(names: Sequence[str], profile: ProfileUse, given: Sequence[str | None]) -> list[str | None]:
    """Return the field that the profile gives to each column, None where it names none or the column has a `given` one.

    A column whose field was given to another one is a property. Raises FileRefusedError: PROFILE_MISMATCH with the
    columns that the file lacks, BAD_OPTIONS if the profile maps a field twice.
    """
    missing = [column for column, index in _find_columns(names, profile.columns).items() if index is None]
    if missing:
        message = f"Profile {profile.name!r} (version {profile.version}) has columns that the file lacks"
        advice = "Import the file without the profile, or change the profile"
        columns = f"The columns of the file are: {list_names(names)}"
        raise FileRefusedError(FileFailure.PROFILE_MISMATCH, f"{message}: {list_names(missing)}. {advice}. {columns}.")
    taken = set(given) - MULTI_COLUMN_FIELDS - {None}
    mapped = apply_mapping(names, profile.columns)
    return [
        None if other else "property" if field in taken else field for field, other in zip(mapped, given, strict=True)
    ]


def list_names(names: Sequence[str]) -> str:
    """Return the first names for a message, and how many more there are."""
    more = "" if len(names) <= MAX_LISTED_NAMES else f" and {len(names) - MAX_LISTED_NAMES} more"
    return ", ".join(name[:40] for name in names[:MAX_LISTED_NAMES]) + more


def _find_columns(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, int | None]:
    """Return the index of each column that is named or numbered from 1; None for one that the file does not have."""
    by_name = {normalise_name(name): index for index, name in reversed(list(enumerate(names)))}
    exact = {name: index for index, name in enumerate(names)}
    return {column: _find_column(column, exact, by_name) for column in columns}


def _find_column(column: str, exact: Mapping[str, int], by_name: Mapping[str, int]) -> int | None:
    index = exact.get(column, by_name.get(normalise_name(column)))
    if index is None and column.isascii() and column.isdigit() and 1 <= int(column) <= len(exact):
        return int(column) - 1
    return index


def refuse_line_column(names: Sequence[str], index: int) -> NoReturn:
    """Raise FileRefusedError: the lines in the column would be properties of exhibits."""
    name = names[index]
    message = f"Column {index + 1} is {name}, which is the last column of an error file, but columns come after it"
    advice = f"Remove those after it, also blank ones that a program added, or move {name} to the end"
    given = f"if its cells are values of exhibits, map {name} to property with option 'columns'"
    raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}. {advice}; {given}.")
