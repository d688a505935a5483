"""Corrections of rejected rows: their internal form, and the layout with which they are read.

Guaranteed: a corrected row is read as the file was that it comes from: dates, lists, line breaks, names of columns. The
layout is copied, and only the container differs: JSON Lines of cells, which hold any text, in place of a dialect that
may have no way to write a delimiter or a line break. Nothing is detected again, because a few rows can be detected
otherwise than the whole file (D265).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.file_options import VolumeUse
from core.load_file.field_mapping import get_id_field
from core.load_file.layout import Layout
from core.load_file.rows import read_key

MAX_ROWS, MAX_BYTES = 1_000, 4_000_000


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


def find_repeated_ids(rows: Iterable[CorrectedRow], layout: Layout) -> dict[int, int]:
    """Return the number of each row whose id an earlier one has, and the number of the first of these; from 1."""
    place = layout.fields.index(get_id_field(layout.fields))
    first: dict[str, int] = {}
    repeated = {}
    for number, row in enumerate(rows, start=1):
        key = read_key(row.cells[place], layout)
        if key and first.setdefault(key, number) != number:
            repeated[number] = first[key]
    return repeated
