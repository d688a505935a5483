"""Every cell of an imported row, rebuilt from what the database holds of it.

Taken are the exhibit, its properties, the originals in the warnings, and the source's bytes only for originals of
more than 1 KB, by the byte range that the warning names. Stored properties are read as JSON, without the application.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from samples.columns import Role
from samples.oracle import Truth
from tests.support.database.committed_state import Queried

NIL = "<nil>"
KEPT_ORIGINAL_BYTES = 1024
FIELDS = {
    Role.ID: "control_number",
    Role.BATES_BEGIN: "bates_begin",
    Role.BATES_END: "bates_end",
    Role.PARENT: "parent_control_number",
    Role.TITLE: "title",
    Role.FILE_NAME: "file_name",
    Role.NATIVE_PATH: "native_path",
    Role.TEXT_PATH: "text_path",
}
KEYS = {Role.ID, Role.BATES_BEGIN, Role.BATES_END, Role.PARENT}
TEXTS = {Role.TITLE, Role.FILE_NAME, Role.NATIVE_PATH, Role.TEXT_PATH}


@dataclass
class Stored:
    """An exhibit with its warnings."""

    values: dict[str, Any]
    properties: dict[str, str | None]
    warnings: list[Any] = field(default_factory=list)

    @property
    def has_marks(self) -> bool:
        """Whether line ends in its texts stand for the file's mark: its record is of one physical line."""
        return bool(self.values["line_count"] == 1)


def stored_exhibits(world: Queried, import_id: int) -> dict[int, Stored]:
    """The exhibits that an import wrote, by line, with the warnings of it."""
    columns = (*FIELDS.values(), "document_properties", "line_no", "line_count")
    rows = world.query(f"SELECT {', '.join(columns)} FROM exhibits WHERE import_id = :id", id=import_id)
    found = {}
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        text = values.pop("document_properties")
        found[values["line_no"]] = Stored(values, {} if text is None else json.loads(text))
    warnings = world.query(
        "SELECT line_no, code, column_name, original, original_bytes, byte_start, byte_len FROM import_warnings "
        "WHERE import_id = :id AND line_no > 0 AND code <> 'NAME_MERGED' ORDER BY line_no, seq",
        id=import_id,
    )
    for warning in warnings:
        found[warning.line_no].warnings.append(warning)
    return found


def rebuilt_rows(world: Queried, import_id: int, truth: Truth, source: bytes) -> dict[int, tuple[str, ...]]:
    """The cells of every row that the import wrote, by line."""
    return {
        line: tuple(_cell(stored, truth, source, column.index) for column in truth.columns)
        for line, stored in stored_exhibits(world, import_id).items()
    }


def assert_rebuilt(world: Queried, import_id: int, truth: Truth, source: bytes) -> None:
    """Every imported row can be rebuilt, cell by cell."""
    rebuilt = rebuilt_rows(world, import_id, truth, source)
    imported = {record.first_line: record.cells for record in truth.imported}
    differing = sorted(line for line in rebuilt.keys() | imported if rebuilt.get(line) != imported.get(line))
    assert rebuilt == imported, f"the cells of lines {differing} are not those of the file"


def _cell(stored: Stored, truth: Truth, source: bytes, index: int) -> str:
    column = truth.columns[index]
    name = column.header if truth.has_header else f"Column {index + 1}"
    original = _original(stored, truth, source, name, index)
    if original is not None:
        return original
    if column.role in TEXTS:
        return _marked(stored.values[FIELDS[column.role]] or "", stored, truth)
    if name in stored.properties:
        value = stored.properties[name]
        return NIL if value is None else _marked(value, stored, truth)
    if column.role in KEYS:
        return stored.values[FIELDS[column.role]] or ""
    return ""


def _original(stored: Stored, truth: Truth, source: bytes, name: str, index: int) -> str | None:
    """What the first warning about the column kept; it was kept before anything else happened to the cell."""
    warning = next((each for each in stored.warnings if each.column_name == name), None)
    if warning is None:
        return None
    if warning.original is None:
        assert warning.original_bytes > KEPT_ORIGINAL_BYTES
        record = source[warning.byte_start : warning.byte_start + warning.byte_len]
        return cells_of(record.decode(truth.encoding), truth.delimiter, truth.qualifier)[index]
    original = bytes(warning.original)
    assert len(original) == warning.original_bytes <= KEPT_ORIGINAL_BYTES
    text = original.decode()
    return text if warning.code == "MIXED_NEWLINES" else _marked(text, stored, truth)


def _marked(text: str, stored: Stored, truth: Truth) -> str:
    return text.replace("\n", truth.newline_mark) if truth.newline_mark and stored.has_marks else text


def cells_of(record: str, delimiter: str, qualifier: str) -> list[str]:
    """The cells of one sound record, read slowly."""
    rest, cells = record.removesuffix("\n").removesuffix("\r"), []
    mark = re.escape(qualifier)
    quoted = rf"{mark}((?:[^{mark}]|{mark}{mark})*+){mark} *" if mark else r"(?!)"
    while True:
        if found := re.match(quoted, rest):
            cell, rest = found[1].replace(qualifier * 2, qualifier), rest[found.end() :]
        else:
            at = rest.find(delimiter)
            cell, rest = (rest, "") if at < 0 else (rest[:at], rest[at:])
        cells.append(cell)
        if not rest:
            return cells
        assert rest.startswith(delimiter)
        rest = rest[1:]
