"""Announce exports again that stand still, because the message that has their work done is gone.

SNS can take 15 minutes to apply a changed filter policy, and what it filters until then is lost; a message can also
end in the dead-letter queue. A message too many does no harm: one worker at a time writes an export.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from core.events import export_requested
from shell.db.session import session
from shell.observability import logger
from shell.outbox.writer import append_events
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# Longer than the timeout of an invocation, and than a filter policy needs.
QUIET_FOR = timedelta(minutes=20)
BATCH = 100
# Part 0 is as old as the request. In no order: exports that never go on must not keep others from their turn.
_QUIET = text(
    """
    SELECT id, tenant_id FROM exports WHERE status IN ('requested', 'running') AND NOT EXISTS (
      SELECT 1 FROM export_parts AS part WHERE part.export_id = exports.id
      AND part.created_at > NOW(6) - INTERVAL :quiet SECOND
    ) ORDER BY RAND() LIMIT :most
    """
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def announce_quiet_exports() -> int:
    """Announce up to BATCH exports that have written nothing for QUIET_FOR, in their tenants; return how many."""
    with session() as transaction:
        quiet = transaction.execute(_QUIET, {"quiet": int(QUIET_FOR.total_seconds()), "most": BATCH}).all()
        append_events(transaction, [export_requested(each.id, each.tenant_id) for each in quiet])
    if quiet:
        logger.warning("exports announced again", extra={"exports": [each.id for each in quiet]})
    return len(quiet)
