"""Resume productions whose execution ended too early, every few minutes while any is open."""

from __future__ import annotations

from typing import Any

from shell.lambda_handlers import event_handler
from shell.productions.executions import resume_productions


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Check all productions, however many messages request it."""
    return resume_productions(event) | {"batchItemFailures": []}


lambda_handler = event_handler(handle)
