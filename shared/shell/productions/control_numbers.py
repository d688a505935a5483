"""Name documents by their control numbers where readers of the case see them.

Guaranteed: what is stored, checkpointed and logged of a failure has ids of exhibits only. Their control numbers are put
in on the way to a reader of the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import is_in

_EXHIBITS = re.compile(r"\bexhibits? (\d+(?:, \d+)*)")


def find_control_numbers(reading: Session, case_id: int, exhibit_ids: Iterable[int]) -> Mapping[int, str]:
    """Return the control numbers of those exhibits that the case has."""
    ids = sorted(set(exhibit_ids))
    if not ids:
        return {}
    statement = select(Exhibits.id, Exhibits.control_number).where(Exhibits.case_id == case_id, is_in(Exhibits.id, ids))
    return {row.id: row.control_number for row in reading.execute(statement)}


def name_documents(reading: Session, case_id: int, reasons: Mapping[Any, str | None]) -> dict[Any, str | None]:
    """Return the reasons with control numbers in the place of the ids of exhibits; removed ones keep their id."""
    ids = [number for reason in reasons.values() for number in _list_ids(reason or "")]
    names = find_control_numbers(reading, case_id, map(int, ids))

    def name(found: re.Match[str]) -> str:
        numbers = [names.get(int(number), f"exhibit {number}") for number in found[1].split(", ")]
        return f"document{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"

    return {key: reason and _EXHIBITS.sub(name, reason) for key, reason in reasons.items()}


def _list_ids(reason: str) -> list[str]:
    return [number for found in _EXHIBITS.findall(reason) for number in found.split(", ")]
