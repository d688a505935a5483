"""Say in a few lines how the columns of a load file were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from exhibit_ingest.printable import shorten_printable

Column = Mapping[str, Any]
_MAX_MAPPED, _MAX_UNMAPPED, _NAME_CHARACTERS = 20, 5, 40
_NOUNS = {
    "date": ("a date", "dates"),
    "person": ("a person", "people"),
    "id": ("an id", "ids"),
    "path": ("a path", "paths"),
}


def list_columns(columns: Sequence[Column], all_columns: Path | None) -> Iterator[str]:
    """Yield a line with the columns that feed fields, and one with those that look as if they should.

    `all_columns` is the file that lists every column.
    """
    mapped = [_describe_mapped(column) for column in columns if column["field"]]
    if mapped:
        kept = len(columns) - len(mapped)
        yield f"columns: {_list_first(mapped, _MAX_MAPPED)}; {kept} kept as properties"
    unmapped = "; ".join(filter(None, (_describe_unmapped(columns, kind) for kind in _NOUNS)))
    if unmapped:
        place = f" All columns: {all_columns}" if all_columns else ""
        advice = "If that is wrong, undo the import, then import the file again with --mapping."
        yield f"not mapped to a field: {unmapped}. {advice}{place}"


def _describe_mapped(column: Column) -> str:
    return f"{_shorten(column['name'])} -> {column['field']}{' (given)' if column['why'] == 'given' else ''}"


def _describe_unmapped(columns: Sequence[Column], kind: str) -> str:
    names = [_shorten(column["name"]) for column in columns if column["looks_like"] == kind]
    one, several = _NOUNS[kind]
    looks = f"looks like {one}" if len(names) == 1 else f"look like {several}"
    return f"{_list_first(names, _MAX_UNMAPPED)} {looks}" if names else ""


def _list_first(texts: Sequence[str], most: int) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def _shorten(name: str) -> str:
    return shorten_printable(name, _NAME_CHARACTERS)
