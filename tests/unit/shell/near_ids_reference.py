"""Which ids of a file resemble ids of the case, decided in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.checks.facts import RowFacts
from core.codes import CheckCode
from shell.imports.checks.id_groups import CaseRow


def fold(number: str) -> str:
    """The form that resembling ids share."""
    return re.sub(r"\d+", lambda digits: str(int(digits[0])), number.lower())


def find_near_ids(rows: Sequence[RowFacts], case: Sequence[CaseRow]) -> Iterator[tuple[Any, ...]]:
    """Yield the first row of each form that has an id which the case lacks, if the case has another one."""
    own, in_case = {row.control_number for row in rows}, {row.control_number for row in case}
    others = {fold(number) for number in in_case - own}
    first: dict[str, RowFacts] = {}
    for row in sorted(rows):
        if row.control_number not in in_case and fold(row.control_number) in others:
            first.setdefault(fold(row.control_number), row)
    for row in first.values():
        yield CheckCode.ID_SIMILAR_IN_CASE, row.line, row.control_number
