"""Wake a worker for purges that may begin or go on; the hourly purge of expired rows does."""

from __future__ import annotations

from shell.aws.sqs import send_messages
from shell.purges.fence import find_due_cases
from shell.purges.turns import is_any_due
from shell.settings import settings
from shell.work.messages import WakeMessage


def request_purges() -> None:
    """Wake a worker if a purge may begin or go on. Raises QueueUnavailableError."""
    if find_due_cases() or is_any_due():
        send_messages(settings().case_purges_queue_url, [WakeMessage()])
