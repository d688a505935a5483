"""Bates numbers of a case's prefixes, given out once.

Guaranteed: no number of a prefix is given out twice, whoever asks at once; what a rolled back transaction took is free
again, so that every number that is given out belongs to a row that says what became of it.
Writers meet on the sequence's row: contention is certain there, and versions alone would have most of them start anew.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from core.bates import BatesFormat, NumberRange
from core.errors import WrongStateError
from shell.tables.numbering import BatesSequences
from shell.utils.bulk_insert import insert_missing


class Taken(NamedTuple):
    """Numbers that were given out, and of which sequence."""

    sequence_id: int
    numbers: NumberRange


def take_numbers(
    transaction: Session, case_id: int, wanted: BatesFormat, count: int, start_at: int | None = None
) -> Taken:
    """The next `count` numbers of the case's prefix, for the caller's transaction to use or roll back.

    The prefix is added if the case has not used it, with `start_at` as its first number (default 1). Raises
    SequenceExhaustedError when the digits run out, WrongStateError for a prefix that is in use with other digits or
    spelling, or with `start_at` where numbers were given out.
    """
    sequence = _locked(transaction, case_id, wanted, start_at)
    refuse_other_use(sequence, wanted, start_at)
    numbers = wanted.take(sequence.next_number, count)
    sequence.next_number = numbers.last + 1
    transaction.flush()
    return Taken(sequence.id, numbers)


def refuse_impossible(
    reading: Session, case_id: int, wanted: BatesFormat, count: int, start_at: int | None = None
) -> None:
    """Raise what `take_numbers` would raise now; it may raise nothing, and that may."""
    sequence = reading.scalars(_of(case_id, wanted)).one_or_none()
    if sequence is None:
        wanted.take(start_at or 1, count)
    else:
        refuse_other_use(sequence, wanted, start_at)
        wanted.take(sequence.next_number, count)


def refuse_other_use(sequence: BatesSequences, wanted: BatesFormat, start_at: int | None) -> None:
    """Raise WrongStateError unless the sequence writes its numbers in the way that is wanted."""
    if (sequence.prefix, sequence.digits) != (wanted.prefix, wanted.digits):
        raise WrongStateError(
            f"the case uses this prefix as {sequence.prefix} with {sequence.digits} digits: ask for these, "
            "or use another prefix"
        )
    if start_at is not None and start_at != sequence.next_number:
        raise WrongStateError(
            f"the prefix goes on with {sequence.next_number}: leave startAt out, or use another prefix"
        )


def _locked(transaction: Session, case_id: int, wanted: BatesFormat, start_at: int | None) -> BatesSequences:
    locking = _of(case_id, wanted).with_for_update().execution_options(populate_existing=True)
    found = transaction.scalars(locking).one_or_none()
    if found is not None:
        return found
    # Who finds the row there waits for the lock that the reading takes; a plain INSERT would wait for a shared one,
    # and of many who then want more than that all but one are broken as deadlocks.
    row = (case_id, wanted.prefix, wanted.digits, start_at or 1)
    insert_missing(transaction, "bates_sequences", ("case_id", "prefix", "digits", "next_number"), [row], key=2)
    return transaction.scalars(locking).one()


def _of(case_id: int, wanted: BatesFormat) -> Select[BatesSequences]:
    return select(BatesSequences).where(BatesSequences.case_id == case_id, BatesSequences.prefix == wanted.prefix)
