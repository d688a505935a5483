"""Writing custody periods where writers are serialised: what overlaps is refused, and every change is recorded.

Guaranteed: under `device_ops.serialised`, no period is inserted that overlaps another of its device; a conflict that is
told is with a committed period or with another element of the same request; for every change there is a row that
says what it left, and by whom. The number of statements does not depend on the number of periods.
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
from core.custody import Conflict, Span, conflicts_with, conflicts_within, envelopes
from core.errors import InvalidInputError, OverlapError
from shell.device_ops import is_locking
from shell.tables.cases import Cases
from shell.tables.names import Custodians
from shell.utils.db_helpers import among, changed_rows, forced
from shell.utils.db_session import session

MOST_CONFLICTS = 10_000

# Our own text; every value is a parameter. The note is wider than its column, which so refuses what is too long for it:
# here it would be cut, or become NULL, without an error.
_WANTED = """
    JSON_TABLE(:rows, '$[*]' COLUMNS (
      position FOR ORDINALITY,
      device_id BIGINT PATH '$[0]',
      begin_at DATETIME(6) PATH '$[1]',
      end_at DATETIME(6) PATH '$[2]',
      custodian_id BIGINT PATH '$[3]',
      note VARCHAR(2000) CHARACTER SET utf8mb4 PATH '$[4]'
    )) AS wanted
"""
_INSERT = f"""
    INSERT INTO custody_periods (device_id, begin_at, end_at, custodian_id, note)
    SELECT wanted.device_id, wanted.begin_at, wanted.end_at, wanted.custodian_id, wanted.note FROM {_WANTED}
"""  # noqa: S608
# Of one device the range that the request spans; joined by OR, those of all devices are one scan of ranges.
_RANGE = "(device_id = :device_{0} AND end_at > :begin_{0} AND begin_at < :end_{0})"
_IN_RANGES = (
    "SELECT id, device_id, begin_at, end_at FROM custody_periods FORCE INDEX (ix_custody_periods_overlap) WHERE "
)
# The LIMIT keeps what is in the ranges a table of its own, read once: else each element would read its device's history
# from the beginning.
_WHERE_FREE = """
    WHERE NOT EXISTS (
      SELECT 1 FROM ({0} LIMIT 18446744073709551615) AS kept
      WHERE kept.device_id = wanted.device_id AND kept.end_at > wanted.begin_at AND kept.begin_at < wanted.end_at
    )
"""
_IDS = text(f"""
    SELECT STRAIGHT_JOIN made.id AS id FROM {_WANTED}
    JOIN custody_periods AS made FORCE INDEX (ix_custody_periods_overlap)
      ON made.device_id = wanted.device_id AND made.end_at = wanted.end_at AND made.begin_at = wanted.begin_at
    ORDER BY wanted.position
""")  # noqa: S608
_RECORD = text("""
    INSERT INTO custody_changes
      (period_id, version, action, user_id, device_id, begin_at, end_at, custodian_id, note)
    SELECT period.id, period.version, :action, :user_id,
      period.device_id, period.begin_at, period.end_at, period.custodian_id, period.note
    FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS made
    STRAIGHT_JOIN custody_periods AS period ON period.id = made.id
""")


class WantedPeriod(NamedTuple):
    """A period to be inserted: its place in the request, the device by number and by row, and what is said of it."""

    span: Span
    device_row: int
    custodian_id: int | None
    note: str | None


def keep_custodians(transaction: Session, caller: Caller, ids: Sequence[int | None]) -> None:
    """Make sure that the tenant has these custodians, and that they stay until the transaction ends.

    A shared lock, in the order of the ids: many may record what one holds. Raises InvalidInputError naming up to 20
    ids that are none of the tenant's.
    """
    wanted = sorted({each for each in ids if each is not None})
    if not wanted:
        return
    mine = select(Custodians.id).join(Cases, Cases.id == Custodians.case_id).where(Cases.tenant_id == caller.tenant_id)
    found = set(transaction.scalars(mine.where(among(Custodians.id, wanted))))
    if len(found) == len(wanted):
        kept = select(Custodians.id).where(among(Custodians.id, wanted)).order_by(Custodians.id)
        kept = forced(kept, Custodians, "PRIMARY")
        found = set(transaction.scalars(kept.with_for_update(read=True)))
    missing = [each for each in wanted if each not in found]
    if missing:
        named = ", ".join(map(str, missing[:20]))
        raise InvalidInputError(f"custodianId: you have no custodians of these ids: {named}; see GET /custodians")


def insert_periods(transaction: Session, caller: Caller, wanted: Sequence[WantedPeriod], ending: int = 0) -> list[int]:
    """Insert periods of serialised devices, all of them, or raise OverlapError with every conflict; ids in order.

    `ending` is the id of a period that this very transaction has cut short. Four statements at most where nothing
    overlaps. Raises StaleDataError, to be replayed, where what overlapped is gone again.
    """
    rows = {"rows": json.dumps([_row(each) for each in wanted], ensure_ascii=False)}
    # The statement that looks for itself sees what is recorded, not the other elements.
    if is_locking() or any(conflicts_within([each.span for each in wanted])):
        refuse_overlaps(transaction, wanted)
        transaction.execute(text(_INSERT), rows)
    else:
        _insert_free(transaction, wanted, rows, ending)
    ids = list(transaction.scalars(_IDS, rows))
    if len(ids) != len(wanted):
        raise StaleDataError("somebody else recorded the same periods meanwhile")
    record_changes(transaction, caller, CustodyAction.ADDED, ids)
    return ids


def _insert_free(transaction: Session, wanted: Sequence[WantedPeriod], rows: Mapping[str, str], ending: int) -> None:
    ranges, bounds = _in_ranges(wanted)
    inserted = transaction.execute(text(_INSERT + _WHERE_FREE.format(ranges)), {**rows, **bounds})
    if changed_rows(inserted) != len(wanted):
        # On a connection of its own, which sees what is committed and not what was inserted here a moment ago.
        with session() as looking:
            refuse_overlaps(looking, wanted, but=ending)
        raise StaleDataError("what overlapped was removed meanwhile")


def record_changes(transaction: Session, caller: Caller, action: CustodyAction, ids: Sequence[int]) -> None:
    """Copy the periods as they are now to what is known of all changes.

    Call it when their rows are written, and so locked: two writers of one period then meet there, and never in the
    middle of their records. A removal is one more version, recorded before the rows are deleted.
    """
    values = {"action": action.value, "user_id": caller.user_id, "ids": json.dumps(list(ids))}
    transaction.execute(_RECORD, values)


def refuse_overlaps(transaction: Session, wanted: Sequence[WantedPeriod], but: int = 0) -> None:
    """Raise OverlapError if the periods overlap each other or recorded ones; the one of id `but` does not count."""
    spans = [each.span for each in wanted]
    recorded = _recorded(transaction, wanted, but)
    found = list(islice(chain(conflicts_with(spans, recorded), conflicts_within(spans)), MOST_CONFLICTS + 1))
    if found:
        raise OverlapError(_said(found), found[:MOST_CONFLICTS])


def _said(found: Sequence[Conflict]) -> str:
    if len(found) > MOST_CONFLICTS:
        return f"Nothing was changed. There are more than {MOST_CONFLICTS:,} overlaps; `conflicts` has so many."
    return f"Nothing was changed. Overlaps: {len(found):,}, all in `conflicts`; periods that only touch are none."


def _recorded(transaction: Session, wanted: Sequence[WantedPeriod], but: int) -> list[Span]:
    """The recorded periods between the first begin and the last end of each device's."""
    numbers = {each.device_row: each.span.device_id for each in wanted}
    statement, bounds = _in_ranges(wanted)
    return list(_spans(numbers, transaction.execute(text(statement), bounds).all(), but))


def _in_ranges(wanted: Sequence[WantedPeriod]) -> tuple[str, dict[str, int | datetime]]:
    ranges = envelopes(each.span._replace(device_id=each.device_row) for each in wanted)
    bounds: dict[str, int | datetime] = {}
    for place, (device, (begin, end)) in enumerate(ranges.items()):
        bounds |= {f"device_{place}": device, f"begin_{place}": begin, f"end_{place}": end}
    return _IN_RANGES + " OR ".join(_RANGE.format(place) for place in range(len(ranges))), bounds


def _spans(numbers: Mapping[int, int], rows: Sequence[tuple[int, int, datetime, datetime]], but: int) -> Iterator[Span]:
    for period_id, device, begin, end in rows:
        if period_id != but:
            yield Span(period_id, numbers[device], begin, end)


def _row(wanted: WantedPeriod) -> list[object]:
    begin, end = wanted.span.begin.isoformat(" "), wanted.span.end.isoformat(" ")
    return [wanted.device_row, begin, end, wanted.custodian_id, wanted.note]
