"""A reader of the load files of volumes, written from the rules of the formats alone, which forgives nothing."""

from __future__ import annotations

import csv
import io

BOM = b"\xef\xbb\xbf"


def read_dat(data: bytes, marks: bool = True) -> list[dict[str, str]]:
    """The records of a DAT by column; with `marks` the sign for a line break is read as LF."""
    assert data.startswith(BOM)
    text, at, records = data.removeprefix(BOM).decode("utf-8"), 0, []
    while at < len(text):
        cells, at = _record(text, at)
        records.append([cell.replace("®", "\n") if marks else cell for cell in cells])
    header, *rows = records
    assert len(set(header)) == len(header), "a column is there twice"
    return [dict(zip(header, row, strict=True)) for row in rows]


def read_opt(data: bytes) -> list[list[str]]:
    """The lines of an OPT; all of seven cells."""
    text = data.decode("ascii")
    assert text.endswith("\r\n")
    lines = list(csv.reader(io.StringIO(text, newline="")))
    assert {len(line) for line in lines} == {7}
    return lines


def _record(text: str, at: int) -> tuple[list[str], int]:
    cells = []
    while True:
        cell, at = _cell(text, at)
        cells.append(cell)
        if text.startswith("\r\n", at):
            return cells, at + 2
        assert text[at] == "\x14", f"neither the next cell nor the record's end at {at}"
        at += 1


def _cell(text: str, at: int) -> tuple[str, int]:
    assert text[at] == "þ", f"no qualifier at {at}"
    parts, at = [], at + 1
    while True:
        end = text.index("þ", at)
        parts.append(text[at:end])
        if not text.startswith("þþ", end):
            return "þ".join(parts), end + 1
        at = end + 2
