"""A nudge from SQS, the schedule, or somebody who mended what had events parked: committed events to SNS."""

from __future__ import annotations

from typing import Any

from shell.invocation import plain_handler
from shell.publishing_ops import publish_pending, release_parked, report_waiting


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Publish all that is free; `{"releaseParked": true}` frees what is parked first, and is answered how many."""
    answer: dict[str, Any] = {"released": release_parked()} if event.get("releaseParked") is True else {}
    answer |= {"published": publish_pending(), "batchItemFailures": []}
    report_waiting()
    return answer


lambda_handler = plain_handler(handle)
