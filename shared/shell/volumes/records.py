"""Lock a volume's row, and record why a volume failed.

Guaranteed: whatever changes the status of a volume holds the lock on its row; a failure is recorded only for the
generation that it is of.
"""

from __future__ import annotations

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.load_file.encoding import replace_surrogates
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.observability import logger
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

RETRY_AFTER_S = 60
_MESSAGE_CHARACTERS = 1_000

_FAIL = text(
    "UPDATE volumes SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id = :volume_id AND generation = :generation AND status IN ('sealed', 'expanding', 'hashing')"
)
_FAIL_UNIT = text(
    "UPDATE volume_units SET status = 'failed' "
    "WHERE volume_id = :volume_id AND unit_no = :unit_no AND status = 'pending'"
)


def lock_volume(transaction: Session, volume_id: int) -> Volumes | None:
    """Return the volume with its row locked, None if it does not exist."""
    query = select(Volumes).where(Volumes.id == volume_id).with_for_update().execution_options(populate_existing=True)
    return transaction.scalars(query).one_or_none()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def load_volume(volume_id: int) -> Volumes | None:
    """Return the volume, or None; a locking read, which waits for a transaction that is about to change the row."""
    with session() as locking:
        return lock_volume(locking, volume_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def fail_volume(volume_id: int, generation: int, code: str, message: str, unit_no: int | None = None) -> bool:
    """Record why a volume cannot be imported; return False if it is not being worked on in this generation any more.

    With `unit_no`, that part of its expansion or hashing failed.
    """
    stored = replace_surrogates(message[:_MESSAGE_CHARACTERS])
    values = {"volume_id": volume_id, "generation": generation, "code": code, "message": stored}
    with session() as transaction:
        if count_changed_rows(transaction.execute(_FAIL, values)) != 1:
            return False
        if unit_no is not None:
            transaction.execute(_FAIL_UNIT, {"volume_id": volume_id, "unit_no": unit_no})
        volume = transaction.get_one(Volumes, volume_id)
        act = Act(ActKind.VOLUME_FAILED, volume_id, volume.case_id, {"code": code})
        record_own_act(transaction, volume.tenant_id, act)
    logger.info("volume failed", extra={"volume_id": volume_id, "code": code})
    return True
