"""The imports of a case as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from exhibit_ingest.session.tables import Column, print_table

_COUNTS = ("rows", "imported", "unchanged", "updated", "rejected", "warnings")
_COUNTS_OF_CHECKS = _COUNTS[1:]
# By the column: how early it is left out.
_RANKS = {"warnings": 5, "unchanged": 4, "updated": 3, "started at": 2, "rows": 1}
_COLUMNS = (
    Column("id", is_number=True),
    # These wrap: a name anywhere, a status between its words, of which the longest is "rejections".
    Column("file name", least=14),
    Column("status", least=10),
    *(Column(name, is_number=True, rank=_RANKS.get(name, 0)) for name in _COUNTS),
    Column("started at", rank=_RANKS["started at"]),
)


def print_imports(rows: Sequence[Mapping[str, Any]], output: TextIO, width: int | None = None) -> None:
    """Print the imports with as many columns as fit on the terminal, of this width, and say which are left out.

    The counts of a check stand in parentheses, because no row of it is in the case.
    """
    print_table(_COLUMNS, [_build_cells(row) for row in rows], output, width)
    if any(row["phase"] == "check" for row in rows):
        print("(Numbers in parentheses are from a check: nothing was imported.)", file=output)


def _build_cells(row: Mapping[str, Any]) -> dict[str, str]:
    is_check = row["phase"] == "check"
    counts = {name: f"{row['rows_seen' if name == 'rows' else name]:,}" for name in _COUNTS}
    return {
        "id": str(row["id"]),
        "file name": row["file_name"],
        "status": row["status"].replace("_", " "),
        **{name: f"({count})" if is_check and name in _COUNTS_OF_CHECKS else count for name, count in counts.items()},
        "started at": row["started_at"][:16].replace("T", " "),
    }
