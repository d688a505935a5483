"""Allocate the Bates numbers of a case's prefixes, each number once.

Guaranteed: no number of a prefix is allocated twice, whatever runs concurrently. Numbers that a rolled back transaction
took are free again, so every allocated number belongs to a row that records its status.
The list of prefixes needs three statements a page; a production's row states its void numbers, which are all of them
as soon as it is cancelled.
Writers lock the sequence's row: conflicts are certain there, and a version check alone would make most writers retry.
The row is committed before any transaction allocates from it: when the insertion that several transactions wait for is
rolled back, the server aborts most of them as deadlocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.bates_numbers import BatesNumber
from core.errors import WrongStateError
from core.productions.bates import BatesFormat, NumberRange
from shell.db.bulk_insert import insert_missing
from shell.exhibits.numbers import list_claimants
from shell.tables.bates import BatesSequences
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import force_index

if TYPE_CHECKING:
    pass


class AllocatedNumbers(NamedTuple):
    """Numbers that were allocated, and the id of their sequence."""

    sequence_id: int
    numbers: NumberRange


def ensure_sequence(
    preparing: Session, case_id: int, bates_format: BatesFormat, count: int, start_at: int | None = None
) -> None:
    """Add the prefix's sequence if it is missing, in a transaction that ends before the allocating one begins.

    Raises SequenceExhaustedError, and adds nothing, if a new sequence would have fewer than `count` numbers.
    """
    if preparing.scalars(_select_sequence(case_id, bates_format)).one_or_none() is None:
        bates_format.take(start_at or 1, count)
        # Of several concurrent transactions one inserts the row; the others leave it unchanged.
        row = (case_id, bates_format.prefix, bates_format.digits, start_at or 1)
        insert_missing(preparing, "bates_sequences", ("case_id", "prefix", "digits", "next_number"), [row], key=2)


def allocate_numbers(
    transaction: Session, case_id: int, bates_format: BatesFormat, count: int, start_at: int | None = None
) -> AllocatedNumbers:
    """Allocate the next `count` numbers of the case's prefix; they are free again if the transaction rolls back.

    The first number of a prefix is `start_at` (default 1). Raises NoResultFound unless `ensure_sequence` was called
    before, SequenceExhaustedError if the digits run out, and WrongStateError for a prefix that is in use with other
    digits or in another spelling, or for a `start_at` other than the next number of a prefix in use.
    """
    locking = _select_sequence(case_id, bates_format).with_for_update().execution_options(populate_existing=True)
    sequence = transaction.scalars(locking).one()
    numbers = bates_format.take(_get_next_number(sequence, bates_format, start_at), count)
    sequence.prefix, sequence.digits, sequence.next_number = bates_format.prefix, bates_format.digits, numbers.last + 1
    # The next number may equal the one with which the sequence was added: this forces the UPDATE of the version.
    flag_modified(sequence, "next_number")
    transaction.flush()
    return AllocatedNumbers(sequence.id, numbers)


def check_available(
    reading: Session, case_id: int, bates_format: BatesFormat, count: int, start_at: int | None = None
) -> NumberRange:
    """Return the numbers that `allocate_numbers` would allocate now, and raise what it would raise.

    Other allocations may change the result until it runs.
    """
    sequence = reading.scalars(_select_sequence(case_id, bates_format)).one_or_none()
    return bates_format.take(_get_next_number(sequence, bates_format, start_at), count)


def list_overlapping(reading: Session, case_id: int, bates_format: BatesFormat, numbers: NumberRange) -> list[int]:
    """Return the ids of the case's exhibits that have one of these Bates numbers: in their fields, or as a claim."""
    first, last = map(bates_format.format_number, numbers)
    bounds = (BatesNumber(bates_format.prefix, number) for number in numbers)
    claimants = list_claimants(reading, case_id, *bounds)
    statement = force_index(select(Exhibits.id), Exhibits, "ix_exhibits_bates").where(Exhibits.case_id == case_id)
    # Of numbers with the same prefix and as many digits, the order of the texts is that of the numbers.
    statement = statement.where(
        Exhibits.bates_begin.between(bates_format.format_number(0), last),
        func.char_length(cast("Any", Exhibits.bates_begin)) == len(first),
        func.coalesce(Exhibits.bates_end, Exhibits.bates_begin) >= first,
    )
    return sorted(claimants.union(reading.scalars(statement)))


def _get_next_number(sequence: BatesSequences | None, bates_format: BatesFormat, start_at: int | None) -> int:
    if sequence is None or sequence.is_unused:
        return start_at or 1
    if (sequence.prefix, sequence.digits) != (bates_format.prefix, bates_format.digits):
        raise WrongStateError(
            f"The case uses this prefix as {sequence.prefix} with {sequence.digits} digits: request these, or use "
            "another prefix."
        )
    if start_at is not None and start_at != sequence.next_number:
        raise WrongStateError(
            f"The next number of the prefix is {sequence.next_number}: omit startAt, or use another prefix."
        )
    return sequence.next_number


def _select_sequence(case_id: int, bates_format: BatesFormat) -> Select[BatesSequences]:
    return select(BatesSequences).where(BatesSequences.case_id == case_id, BatesSequences.prefix == bates_format.prefix)
