"""Read one page of a list by its unique key, in either direction.

Guaranteed: a page takes one statement, whose condition and order use the same index; no page is found by counting.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, or_
from sqlalchemy.orm import QueryableAttribute

from core.pagination import Window


def select_window(statement: Any, window: Window, *key: Any) -> Any:
    """Return the SELECT of the window's rows, and of one more, in the order of reading; `key` orders the list."""
    if window.start is not None:
        statement = statement.where(_follows(window, key, window.start))
    ordered = [column.desc() if window.reads_down else column.asc() for column in key]
    return statement.order_by(*ordered).limit(window.limit + 1)


def _follows(window: Window, key: tuple[QueryableAttribute[Any], ...], start: tuple[Any, ...]) -> ColumnElement[bool]:
    """Return the condition that the key follows `start`.

    The row comparison (a, b) > (x, y) would make the servers read all preceding rows as well.
    """
    column, value = key[0], start[0]
    beyond = column < value if window.reads_down else column > value
    if len(key) == 1:
        return and_(beyond)
    reached = column <= value if window.reads_down else column >= value
    return and_(reached, or_(beyond, _follows(window, key[1:], start[1:])))


def write_window(window: Window, *key: str) -> str:
    """Return the end of an SQL text, from `AND`, as `select_window` builds it; its values are `window_values`."""
    ordered = ", ".join(f"{column} {'DESC' if window.reads_down else 'ASC'}" for column in key)
    following = "" if window.start is None else f"AND {_write_follows(window, key)} "
    return f"{following}ORDER BY {ordered} LIMIT :most"


def _write_follows(window: Window, key: tuple[str, ...], place: int = 0) -> str:
    sign = "<" if window.reads_down else ">"
    beyond = f"{key[place]} {sign} :start_{place}"
    if place == len(key) - 1:
        return beyond
    return f"{key[place]} {sign}= :start_{place} AND ({beyond} OR ({_write_follows(window, key, place + 1)}))"


def window_values(window: Window) -> dict[str, Any]:
    """Return the values of `write_window`."""
    starts = {f"start_{place}": value for place, value in enumerate(window.start or ())}
    return {**starts, "most": window.limit + 1}
