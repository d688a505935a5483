"""Write custody periods: refuse overlaps and record every change.

Guaranteed: under `device_locks.exclusive_devices`, no period is inserted that overlaps another one of its device; every
reported conflict is with a committed period or another element of the same request; for every change there is a row
with the resulting period, its version and the user. The number of statements does not depend on the number of periods.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from core.caller import Caller
from core.contracts.custody import CustodyAction
from core.custody import PeriodConflict, Span, find_conflicts_with, find_conflicts_within, find_envelopes
from core.errors import InvalidInputError, OverlapError
from core.named_lists import format_ids
from shell.case_state.fence import Entry, enter_case
from shell.custody.device_locks import is_locking
from shell.db.session import session
from shell.tables.cases import Cases
from shell.tables.custodians_tags import Custodians
from shell.tables.custody import CustodyPeriods
from shell.utils.db_helpers import count_changed_rows, force_index, is_in

MAX_CONFLICTS = 10_000

# Constant text; every value is a parameter. The note is declared wider than its column, so that the column refuses a
# note that is too long: JSON_TABLE would truncate it or return NULL, without an error.
_NEW_PERIODS = """
    JSON_TABLE(:rows, '$[*]' COLUMNS (
      position FOR ORDINALITY,
      device_id BIGINT PATH '$[0]',
      begin_at DATETIME(6) PATH '$[1]',
      end_at DATETIME(6) PATH '$[2]',
      custodian_id BIGINT PATH '$[3]',
      note VARCHAR(2000) CHARACTER SET utf8mb4 PATH '$[4]'
    )) AS new_period
"""
_INSERT = f"""
    INSERT INTO custody_periods (device_id, begin_at, end_at, custodian_id, note)
    SELECT new_period.device_id, new_period.begin_at, new_period.end_at, new_period.custodian_id, new_period.note
    FROM {_NEW_PERIODS}
"""  # noqa: S608
# The range that the request spans on one device. Joined by OR, the ranges of all devices are one index range scan.
_RANGE = "(device_id = :device_{0} AND end_at > :begin_{0} AND begin_at < :end_{0})"
_SELECT_IN_RANGES = (
    "SELECT id, device_id, begin_at, end_at FROM custody_periods FORCE INDEX (ix_custody_periods_overlap) WHERE "
)
# The LIMIT makes the server materialize the rows of the ranges once; otherwise it would read a device's history from
# its beginning for every new period.
_WHERE_NO_OVERLAP = """
    WHERE NOT EXISTS (
      SELECT 1 FROM ({0} LIMIT 18446744073709551615) AS recorded
      WHERE recorded.device_id = new_period.device_id
        AND recorded.end_at > new_period.begin_at AND recorded.begin_at < new_period.end_at
    )
"""
_SELECT_IDS = text(f"""
    SELECT STRAIGHT_JOIN inserted.id AS id FROM {_NEW_PERIODS}
    JOIN custody_periods AS inserted FORCE INDEX (ix_custody_periods_overlap)
      ON inserted.device_id = new_period.device_id
      AND inserted.end_at = new_period.end_at AND inserted.begin_at = new_period.begin_at
    ORDER BY new_period.position
""")  # noqa: S608
_RECORD_CHANGES = text("""
    INSERT INTO custody_changes
      (period_id, version, action, user_id, device_id, begin_at, end_at, custodian_id, note)
    SELECT period.id, period.version, :action, :user_id,
      period.device_id, period.begin_at, period.end_at, period.custodian_id, period.note
    FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS changed
    STRAIGHT_JOIN custody_periods AS period ON period.id = changed.id
""")


class NewPeriodRow(NamedTuple):
    """A period to be inserted.

    `span` holds the period's position in the request and the device's number; `device_id` is the id of its row.
    """

    span: Span
    device_id: int
    custodian_id: int | None
    note: str | None


def enter_cases(
    transaction: Session,
    caller: Caller,
    ids: Sequence[int | None],
    period_id: int | None = None,
    entry: Entry = Entry.CHANGE,
) -> None:
    """Enter the cases of the custodians, and of the one of a period, in the order of their ids, before any other lock.

    Custodians that the tenant does not have are left out. Raises WrongStateError if a case takes no changes.
    """
    of_period = select(CustodyPeriods.custodian_id).where(CustodyPeriods.id == period_id)
    found: Sequence[int | None] = [] if period_id is None else transaction.scalars(of_period).all()
    concerned = sorted({each for each in (*ids, *found) if each is not None})
    if not concerned:
        return
    own = select(Custodians.case_id).join(Cases, Cases.id == Custodians.case_id)
    own = own.where(Cases.tenant_id == caller.tenant_id, is_in(Custodians.id, concerned))
    for case_id in sorted(set(transaction.scalars(own))):
        enter_case(transaction, case_id, entry)


def lock_custodians(transaction: Session, caller: Caller, ids: Sequence[int | None]) -> None:
    """Lock the custodians in shared mode, in the order of their ids, so that they exist until the transaction ends.

    Transactions that record periods of the same custodian do not wait for each other. Raises InvalidInputError with
    up to 20 of the ids that the tenant does not have.
    """
    requested: list[int] = sorted({each for each in ids if each is not None})
    if not requested:
        return
    own = select(Custodians.id).join(Cases, Cases.id == Custodians.case_id).where(Cases.tenant_id == caller.tenant_id)
    found = set(transaction.scalars(own.where(is_in(Custodians.id, requested))))
    if len(found) == len(requested):
        locking = select(Custodians.id).where(is_in(Custodians.id, requested)).order_by(Custodians.id)
        locking = force_index(locking, Custodians, "PRIMARY")
        found = set(transaction.scalars(locking.with_for_update(read=True)))
    missing = [each for each in requested if each not in found]
    if missing:
        named = format_ids(missing)
        raise InvalidInputError(
            f"custodianId: you have no custodians with these ids: {named}; list them with GET /custodians."
        )


def insert_periods(transaction: Session, caller: Caller, rows: Sequence[NewPeriodRow], ended_id: int = 0) -> list[int]:
    """Insert all periods, or raise OverlapError with every conflict; return the ids in the order of the rows.

    Call it under `exclusive_devices`. `ended_id` is a period that this transaction has just ended. Takes at most four
    statements if nothing overlaps. Raises StaleDataError, to be retried, if an overlapping period has disappeared.
    """
    parameters = {"rows": json.dumps([_list_values(each) for each in rows], ensure_ascii=False)}
    # The conditional INSERT compares with recorded periods, not with other elements of the request.
    if is_locking() or any(find_conflicts_within([each.span for each in rows])):
        check_overlaps(transaction, rows)
        transaction.execute(text(_INSERT), parameters)
    else:
        _insert_if_free(transaction, rows, parameters, ended_id)
    ids = list(transaction.scalars(_SELECT_IDS, parameters))
    if len(ids) != len(rows):
        raise StaleDataError("another transaction recorded the same periods")
    record_changes(transaction, caller, CustodyAction.ADDED, ids)
    return ids


def _insert_if_free(
    transaction: Session, rows: Sequence[NewPeriodRow], parameters: Mapping[str, str], ended_id: int
) -> None:
    select_recorded, bounds = _select_in_ranges(rows)
    statement = text(_INSERT + _WHERE_NO_OVERLAP.format(select_recorded))
    if count_changed_rows(transaction.execute(statement, {**parameters, **bounds})) != len(rows):
        # A separate connection sees what is committed, and not what this transaction inserted.
        with session() as reading:
            check_overlaps(reading, rows, excluded_id=ended_id)
        raise StaleDataError("an overlapping period was removed meanwhile")


def record_changes(transaction: Session, caller: Caller, action: CustodyAction, ids: Sequence[int]) -> None:
    """Copy the periods, as they are now, to the history of changes.

    Call it after their rows are written, and thereby locked: two writers of one period then wait for each other before
    they write history. A removal is recorded as one more version, before the rows are deleted.
    """
    values = {"action": action.value, "user_id": caller.user_id, "ids": json.dumps(list(ids))}
    transaction.execute(_RECORD_CHANGES, values)


def check_overlaps(transaction: Session, rows: Sequence[NewPeriodRow], excluded_id: int = 0) -> None:
    """Raise OverlapError if the periods overlap each other, or recorded periods other than `excluded_id`."""
    spans = [each.span for each in rows]
    recorded = _list_recorded(transaction, rows, excluded_id)
    conflicts = chain(find_conflicts_with(spans, recorded), find_conflicts_within(spans))
    found = list(islice(conflicts, MAX_CONFLICTS + 1))
    if found:
        raise OverlapError(_describe_conflicts(found), found[:MAX_CONFLICTS])


def _describe_conflicts(found: Sequence[PeriodConflict]) -> str:
    if len(found) > MAX_CONFLICTS:
        return (
            f"Nothing was changed. There are more than {MAX_CONFLICTS:,} overlaps; "
            f"`conflicts` lists the first {MAX_CONFLICTS:,}."
        )
    return (
        f"Nothing was changed. Overlaps: {len(found):,}, all listed in `conflicts`. "
        "A period may begin when another one ends."
    )


def _list_recorded(transaction: Session, rows: Sequence[NewPeriodRow], excluded_id: int) -> list[Span]:
    """Return the recorded periods between the first begin and the last end of each device's rows."""
    numbers = {each.device_id: each.span.device_id for each in rows}
    statement, bounds = _select_in_ranges(rows)
    return list(_build_spans(numbers, transaction.execute(text(statement), bounds).all(), excluded_id))


def _select_in_ranges(rows: Sequence[NewPeriodRow]) -> tuple[str, dict[str, int | datetime]]:
    ranges = find_envelopes(each.span._replace(device_id=each.device_id) for each in rows)
    bounds: dict[str, int | datetime] = {}
    for index, (device_id, (begin, end)) in enumerate(ranges.items()):
        bounds |= {f"device_{index}": device_id, f"begin_{index}": begin, f"end_{index}": end}
    return _SELECT_IN_RANGES + " OR ".join(_RANGE.format(index) for index in range(len(ranges))), bounds


def _build_spans(
    numbers: Mapping[int, int], recorded: Sequence[tuple[int, int, datetime, datetime]], excluded_id: int
) -> Iterator[Span]:
    for period_id, device_id, begin, end in recorded:
        if period_id != excluded_id:
            yield Span(period_id, numbers[device_id], begin, end)


def _list_values(row: NewPeriodRow) -> list[object]:
    begin, end = row.span.begin.isoformat(" "), row.span.end.isoformat(" ")
    return [row.device_id, begin, end, row.custodian_id, row.note]
