"""Cells of CSV files that people open in spreadsheets."""

from __future__ import annotations

# Characters that make a spreadsheet evaluate a cell (OWASP, "CSV injection" and ASVS 1.2.10), also in full width.
_FORMULA_STARTS = (*"=+-@", "\t", "\r", "\n", "\0", *"＝＋－＠")


def neutralize_formula(cell: str) -> str:
    """Return the cell in a form that a spreadsheet displays and does not evaluate."""
    return "'" + cell if cell.startswith(_FORMULA_STARTS) else cell
