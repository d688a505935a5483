"""Publish committed outbox events to SNS, when a message wakes the relay."""

from __future__ import annotations

from typing import Any

from shell.lambda_handlers import event_handler
from shell.outbox.relay import publish_pending, release_dead_letters, report_backlog
from shell.work.reading import has_release_request


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Publish pending events; `{"releaseDeadLetters": true}` first releases dead-lettered ones and counts them."""
    result: dict[str, Any] = {"released": release_dead_letters()} if has_release_request(event) else {}
    result |= {"published": publish_pending(), "batchItemFailures": []}
    report_backlog(event)
    return result


lambda_handler = event_handler(handle)
