"""Compare a row's numbers with the family range that it states, and with that of its parent."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from core.checks.bates import BatesRange, read_range
from core.checks.findings import FactNames, Finding, warn
from core.codes import CheckCode


class FamilyRow(NamedTuple):
    """What families need of a row; blank texts for what it lacks."""

    line: int
    control_number: str
    bates_begin: str
    bates_end: str
    family_begin: str
    family_end: str


# The members of a family come together, and state the same range.
@lru_cache(maxsize=256)
def read_statement(begin: str, end: str) -> tuple[BatesRange | None, tuple[CheckCode, ...]]:
    """Return the stated range, None if it is incomplete or wrong, and what is wrong with it.

    An end that is the begin with more behind it (DOC2 to DOC2_A001, DOC2.003) is the number of the last attachment: its
    family has no numbers in between, and nothing is wrong.
    """
    if not begin or not end:
        return None, ()
    stated, codes = read_range(begin, end)
    if codes == (CheckCode.BATES_PREFIX,) and end.startswith(begin) and not end[len(begin)].isdigit():
        return None, ()
    return (stated if set(codes) <= {CheckCode.BATES_WIDTH} else None), codes


def find_position(numbers: BatesRange | None, control_number: str, stated: BatesRange) -> BatesRange | None:
    """Return the numbers of a row that are compared with a family range; None if the row has none.

    They are its Bates numbers, or its control number if that is in the series of the range and they are not.
    """
    if numbers is None or numbers[:2] != stated[:2]:
        own, _ = read_range(control_number, "")
        if own is not None and own[:2] == stated[:2]:
            return own
    return numbers


def is_outside(position: BatesRange | None, stated: BatesRange) -> bool:
    """Return whether a row has numbers that are not in the range."""
    return position is not None and not position.is_in(stated)


def describe_outside(line: int, control_number: str, stated: tuple[str, str], names: FactNames) -> Finding:
    """Return the finding of a row that is outside of the range that it states."""
    message = (
        f"Line {line}: the document is outside of the family range {stated[0]} to {stated[1]} that its row states."
        " Correct the range or the numbers."
    )
    return warn(CheckCode.FAMILY_RANGE, line, names.family_begin, message, control_number)


def compare_with_parent(child: FamilyRow, parent: FamilyRow, names: FactNames) -> Finding | None:
    """Return the finding of a child whose family range does not agree with its parent; at most one for a child.

    None if both state the same range, or if the child is outside of its own: these are findings of one row alone.
    """
    if child[4:] == parent[4:] or _is_row_outside(child, child):
        return None
    if _is_row_outside(parent, child):
        where = f"its parent {parent.control_number} (line {parent.line}) is outside of the family range"
        return _describe(child, names, f"{where} {child.family_begin} to {child.family_end} that line {child.line}")
    if _is_row_outside(child, parent):
        where = f"the document is outside of the family range {parent.family_begin} to {parent.family_end} that its"
        return _describe(child, names, f"{where} parent {parent.control_number} (line {parent.line})")
    return None


def _is_row_outside(row: FamilyRow, stating: FamilyRow) -> bool:
    stated, _ = read_statement(stating.family_begin, stating.family_end)
    if stated is None:
        return False
    numbers = read_range(row.bates_begin, row.bates_end)[0] if row.bates_begin else None
    return is_outside(find_position(numbers, row.control_number, stated), stated)


def _describe(child: FamilyRow, names: FactNames, where: str) -> Finding:
    message = f"Line {child.line}: {where} states. Correct the parent, the range or the numbers."
    return warn(CheckCode.FAMILY_RANGE, child.line, names.family_begin, message, child.control_number)
