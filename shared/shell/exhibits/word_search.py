"""Search names by words."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, false

from shell.utils.key_validation import is_storable


def match_words(column: Any, search: str, table: str) -> list[ColumnElement[bool]]:
    """Return the conditions that the name has all words of the search, anywhere, as the column's collation compares.

    A word that the table's names cannot have matches nothing.
    """
    words = search.split()
    if not all(is_storable(word, table, "name") for word in words):
        return [false()]
    return [column.contains(word, autoescape=True) for word in words]
