"""Bates numbers of a case's prefixes, given out once.

Guaranteed: no number of a prefix is given out twice, whoever asks at once; what a rolled back transaction took is free
again, so that every number that is given out belongs to a row that says what became of it.
Writers meet on the sequence's row: contention is certain there, and versions alone would have most of them start anew.
The row is committed before anybody takes from it: of several who wait for an insertion that is rolled back, the server
breaks most as deadlocks.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.bates import BatesFormat, NumberRange
from core.errors import WrongStateError
from shell.tables.numbering import BatesSequences
from shell.utils.bulk_insert import insert_missing


class Taken(NamedTuple):
    """Numbers that were given out, and of which sequence."""

    sequence_id: int
    numbers: NumberRange


def ensure_sequence(
    preparing: Session, case_id: int, wanted: BatesFormat, count: int, start_at: int | None = None
) -> None:
    """See to it that the prefix has a sequence, in a transaction that ends before the one that takes numbers begins.

    Raises SequenceExhaustedError, and adds nothing, if there is none and a new one has fewer than `count` numbers.
    """
    if preparing.scalars(_of(case_id, wanted)).one_or_none() is None:
        wanted.take(start_at or 1, count)
        # Of many who begin at once, those who are late find the row there, and leave it as it is.
        row = (case_id, wanted.prefix, wanted.digits, start_at or 1)
        insert_missing(preparing, "bates_sequences", ("case_id", "prefix", "digits", "next_number"), [row], key=2)


def take_numbers(
    transaction: Session, case_id: int, wanted: BatesFormat, count: int, start_at: int | None = None
) -> Taken:
    """The next `count` numbers of the case's prefix, for the caller's transaction to use or roll back.

    `ensure_sequence` has to be called before; else NoResultFound is raised. The first number that is given out is
    `start_at` (default 1). Raises SequenceExhaustedError when the digits run out, WrongStateError for a prefix that is
    in use with other digits or spelling, or with `start_at` where numbers were given out.
    """
    locking = _of(case_id, wanted).with_for_update().execution_options(populate_existing=True)
    sequence = transaction.scalars(locking).one()
    numbers = wanted.take(_next_number(sequence, wanted, start_at), count)
    sequence.prefix, sequence.digits, sequence.next_number = wanted.prefix, wanted.digits, numbers.last + 1
    # The next number may be the one that stood there when the sequence was added: the version has to be raised.
    flag_modified(sequence, "next_number")
    transaction.flush()
    return Taken(sequence.id, numbers)


def refuse_impossible(
    reading: Session, case_id: int, wanted: BatesFormat, count: int, start_at: int | None = None
) -> None:
    """Raise what `take_numbers` would raise now; it may raise nothing, and that may."""
    sequence = reading.scalars(_of(case_id, wanted)).one_or_none()
    wanted.take(_next_number(sequence, wanted, start_at), count)


def _next_number(sequence: BatesSequences | None, wanted: BatesFormat, start_at: int | None) -> int:
    if sequence is None or sequence.is_unused:
        return start_at or 1
    if (sequence.prefix, sequence.digits) != (wanted.prefix, wanted.digits):
        raise WrongStateError(
            f"the case uses this prefix as {sequence.prefix} with {sequence.digits} digits: ask for these, "
            "or use another prefix"
        )
    if start_at is not None and start_at != sequence.next_number:
        raise WrongStateError(
            f"the prefix goes on with {sequence.next_number}: leave startAt out, or use another prefix"
        )
    return sequence.next_number


def _of(case_id: int, wanted: BatesFormat) -> Select[BatesSequences]:
    return select(BatesSequences).where(BatesSequences.case_id == case_id, BatesSequences.prefix == wanted.prefix)
