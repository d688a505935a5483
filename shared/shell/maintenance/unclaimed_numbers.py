"""Claim the numbers of productions that an earlier version confirmed, which knows nothing of `production_numbers`.

The migration that made the table claims those that were confirmed before it. An execution keeps the version that it was
started with, for up to a week, so others follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text

from shell.db.session import session
from shell.deadline import seconds_left
from shell.exhibits.numbers import claim_produced
from shell.observability import logger
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

BATCH = 100
# A production that was confirmed while the migration ran may have some of its claims. Longer than between two runs.
COUNTED_FOR = timedelta(days=3)
# One that waits for an operator may be confirmed.
_UNCLAIMED = text("""
    SELECT p.id FROM productions AS p WHERE p.id > :after AND p.status IN ('confirmed', 'needs_attention') AND (
      NOT EXISTS (SELECT 1 FROM production_numbers AS n WHERE n.production_id = p.id)
      OR p.updated_at > NOW(6) - INTERVAL :age SECOND
        AND p.documents > (SELECT COUNT(*) FROM production_numbers AS n WHERE n.production_id = p.id)
    ) AND EXISTS (SELECT 1 FROM cases WHERE cases.id = p.case_id AND cases.status IN ('open', 'closed'))
    ORDER BY p.id LIMIT :most
""")
# A purge, which begins under an exclusive lock on this row, would not find claims that are written behind it.
_IS_THERE = text("""
    SELECT 1 FROM cases WHERE id = (SELECT case_id FROM productions WHERE id = :production_id)
    AND status IN ('open', 'closed') LOCK IN SHARE MODE
""")


def claim_unclaimed() -> None:
    """Claim the numbers of produced documents without a claim, a transaction for each production, while time is left.

    What one run leaves, the next run claims.
    """
    after = 0
    while seconds_left() > 0 and (found := _list_unclaimed(after)):
        for production_id in found:
            if seconds_left() > 0:
                _claim(production_id)
        after = found[-1]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_unclaimed(after: int) -> Sequence[int]:
    place = {"after": after, "age": int(COUNTED_FOR.total_seconds()), "most": BATCH}
    with session() as reading:
        return reading.scalars(_UNCLAIMED, place).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _claim(production_id: int) -> None:
    with session() as transaction:
        if transaction.execute(_IS_THERE, {"production_id": production_id}).first() is None:
            return
        claim_produced(transaction, production_id)
    logger.info("numbers claimed", extra={"production_id": production_id})
