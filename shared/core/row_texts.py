"""Write a text for each row of a table, a column at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

# The same text for every row, or a text for each.
Part = str | Sequence[str]


def join_rows(parts: Iterable[Part], rows: int) -> list[str]:
    """Return each row's texts, joined in the order of the parts; each column has `rows` texts.

    Several times as fast as formatting row by row: no instruction of the interpreter runs for a row.
    """
    columns: list[Iterable[str]] = []
    constant = ""
    for part in parts:
        if isinstance(part, str):
            constant += part
        else:
            columns += [repeat(constant), part] if constant else [part]
            constant = ""
    return list(map("".join, zip(*columns, repeat(constant, rows), strict=False)))
