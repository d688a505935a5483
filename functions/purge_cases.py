"""Purge cases: batch by batch while an invocation lasts, when a message wakes the function."""

from __future__ import annotations

from typing import Any

from shell.lambda_handlers import event_handler
from shell.purges.run import take_purges_on


def handle(_event: dict[str, Any]) -> dict[str, Any]:
    """Take all purges on that are due, however many messages request it."""
    take_purges_on()
    return {"batchItemFailures": []}


lambda_handler = event_handler(handle)
