"""A nudge from SQS, or the schedule: committed events to SNS."""

from __future__ import annotations

from typing import Any

from shell.invocation import plain_handler
from shell.outbox_ops import publish_pending


def handle(_event: dict[str, Any]) -> dict[str, Any]:
    """Publish all that is waiting; a nudge says no more than that there is something."""
    return {"published": publish_pending(), "batchItemFailures": []}


lambda_handler = plain_handler(handle)
