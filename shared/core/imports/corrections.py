"""Corrections of rejected rows: their internal form, and the layout with which they are read.

Guaranteed: a corrected row is read as the file was that it comes from: dates, lists, line breaks, names of columns. The
layout is copied, and only the container differs: JSON Lines of cells, which hold any text, in place of a dialect that
may have no way to write a delimiter or a line break; or the dialect of a file that was uploaded, which is detected. No
rule for values is detected again, because a few rows can be detected otherwise than the whole file (D265, D293).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.file_options import VolumeUse
from core.imports.report_files import build_reload_options
from core.load_file.field_mapping import LINE_COLUMN, ORIGINAL_LINE, get_id_field
from core.load_file.given_columns import list_names
from core.load_file.layout import Layout
from core.load_file.original_lines import has_line_column

MAX_ROWS, MAX_BYTES = 1_000, 4_000_000
# How a file is written, and not what its values mean.
CONTAINER = frozenset(
    {"encoding", "delimiter", "qualifier", "line_ends", "header", "header_line", "user_id", "dry_run"}
)
# Of these, what a file of rejected rows has as the original does; its encoding is UTF-8, its header the first line.
_INHERITED = ("delimiter", "qualifier", "line_ends")


class CorrectedRow(NamedTuple):
    """The cells of a row, in the order of the file's columns, and the line that it replaces.

    `version` is that of the document that the row of an overlay may change although it was changed since; None if none
    is stated.
    """

    line: int
    cells: Sequence[str]
    version: int | None = None


def encode_rows(rows: Iterable[CorrectedRow]) -> bytes:
    """Return the rows as JSON Lines, in UTF-8; line breaks and other control characters of cells are escaped."""
    return b"".join(
        json.dumps(_describe(row), ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows
    )


def _describe(row: CorrectedRow) -> dict[str, Any]:
    version = {} if row.version is None else {"version": row.version}
    return {"line": row.line, "cells": list(row.cells), **version}


def build_file_name(import_id: int) -> str:
    """Return the name under which lists show a correction of an import."""
    return f"corrections-of-import-{import_id}.jsonl"


def copy_layout(layout: Layout, volume: VolumeUse | None) -> Layout:
    """Return the layout of corrections of a file; paths start from the place of the file in its volume, if it has one.

    Its bytes have no header. A correction of an import whose own layout is one has the same layout.
    """
    files = layout.files if volume is None else replace(layout.files, volume=volume)
    return replace(layout, json_cells=True, files=files, body_start=0, body_line=1)


def resolve_options(
    given: Mapping[str, Any], stated: Mapping[str, Any], layout: Layout, volume: VolumeUse | None
) -> dict[str, Any]:
    """Return the options of an uploaded file with corrections: rules for values of the layout that they are of.

    How the file is written is `given` for it, or was `stated` for the original, or is detected. Raises FileRefusedError
    (NOT_A_CORRECTION) if another rule is given than that of the layout.
    """
    rules = {name: value for name, value in build_reload_options(layout, volume).items() if name not in CONTAINER}
    for name, value in given.items():
        if name not in CONTAINER and value and value != rules.get(name):
            message = f"Option {name!r} differs from that of the import whose rows this file corrects."
            raise _refuse(f"{message} Leave it out.")
    return {**{name: stated[name] for name in _INHERITED if name in stated}, **given, **rules}


def adopt_values(found: Layout, original: Layout, volume: VolumeUse | None) -> Layout:
    """Return the layout of an uploaded file with corrections: its own container, all else of the original.

    Raises FileRefusedError (NOT_A_CORRECTION) unless it has the columns of the original, in their order, and after them
    that of the lines.
    """
    if not has_line_column(found):
        message = f"The file has no column of lines: its last column is not {LINE_COLUMN}."
        raise _refuse(f"{message} Correct the rejected-rows file of the import, and keep that column.")
    if found.names[:-1] != original.names:
        listed = f"{list_names(found.names[:-1])} instead of {list_names(original.names)}"
        advice = "Correct the rejected-rows file of that import, and keep all of its columns."
        raise _refuse(f"The columns are not those of the import whose rows it corrects: {listed}. {advice}")
    copied = copy_layout(original, volume)
    return replace(
        copied,
        json_cells=False,
        encoding=found.encoding,
        grammar=found.grammar,
        names=(*copied.names, found.names[-1]),
        fields=(*copied.fields, ORIGINAL_LINE),
        reasons=found.reasons,
        earlier_fields=(*copied.earlier_fields, ORIGINAL_LINE) if copied.earlier_fields else (),
        body_start=found.body_start,
        body_line=found.body_line,
        has_header=True,
        header_line=found.header_line,
    )


def _refuse(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.NOT_A_CORRECTION, message)


def find_repeated_ids(rows: Iterable[CorrectedRow], layout: Layout) -> dict[int, int]:
    """Return the number of each row whose id an earlier one has, and the number of the first of these; from 1."""
    # Where it is used: functions that only announce a correction do not load it.
    from core.load_file.rows import read_key

    place = layout.fields.index(get_id_field(layout.fields))
    first: dict[str, int] = {}
    repeated = {}
    for number, row in enumerate(rows, start=1):
        key = read_key(row.cells[place], layout)
        if key and first.setdefault(key, number) != number:
            repeated[number] = first[key]
    return repeated
