"""Messages with a delay, each of which requests the next one, as long as there is work to look after.

Guaranteed: of all messages that request a next one for a queue, only the latest goes on doing so. However many are
sent, by whatever number of functions at once, one chain of messages is left. It does not end with a killed worker:
a message is sent before it counts as the latest, and the message of the worker is delivered again.
Not guaranteed: that a message is sent once.
"""

from __future__ import annotations

import hashlib

from sqlalchemy import text

from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.observability import logger
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import NEW_TURN, WakeMessage

# The clock's microseconds, as fencing tokens are: no row has them after a purge, and they increase nevertheless.
_TURNS = text(
    "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) AS clock, "
    "COALESCE((SELECT fencing_token FROM semaphores WHERE name = :name), 0) AS latest"
)
_SAVE_TURN = text(
    "INSERT INTO semaphores (name, fencing_token) VALUES (:name, :turn) "
    "ON DUPLICATE KEY UPDATE fencing_token = GREATEST(fencing_token, :turn)"
)


def remind(queue_url: str, delay_s: int, turn: int = NEW_TURN) -> None:
    """Send the queue a message with the next turn, unless a later one than `turn` has been sent.

    Raises QueueUnavailableError, DatabaseUnavailableError and TransactionConflictError; let the message that has the
    turn be delivered again then.
    """
    name = hashlib.sha256(f"reminders\0{queue_url}".encode()).digest()
    clock, latest = _read_turns(name)
    if turn < latest:
        logger.info("a later message goes on", extra={"turn": turn, "latest": latest})
        return
    following = max(clock, latest + 1)
    send_messages(queue_url, [WakeMessage(following)], delay_s)
    _save_turn(name, following)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_turns(name: bytes) -> tuple[int, int]:
    with session() as reading:
        row = reading.execute(_TURNS, {"name": name}).one()
        return int(row.clock), int(row.latest)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _save_turn(name: bytes, turn: int) -> None:
    with session() as transaction:
        transaction.execute(_SAVE_TURN, {"name": name, "turn": turn})
