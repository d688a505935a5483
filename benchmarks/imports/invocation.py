"""Call handlers as Lambda does for an SQS message. Imports nothing from the application."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.errors import BenchmarkError
from local.event_sources.sqs_events import build_sqs_event

Message = Mapping[str, Any]
Handler = Callable[[dict[str, Any], Any], Any]
_QUEUE = "arn:aws:sqs:us-east-1:123456789012:queue"


class _Context:
    """A Lambda context with 15 minutes of remaining time."""

    function_name = "benchmark"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:benchmark"
    aws_request_id = "benchmark"

    def get_remaining_time_in_millis(self) -> int:
        """Return the remaining time in milliseconds."""
        return 900_000


def time_handler(handler: Handler, body: Message) -> float:
    """Return the seconds that the handler takes for the message. Raises BenchmarkError where it reports a failure."""
    event = build_sqs_event([_build_message(body)], _QUEUE)
    began = time.perf_counter()
    response = handler(event, _Context())
    seconds = time.perf_counter() - began
    if response["batchItemFailures"]:
        raise BenchmarkError(f"{handler.__module__} failed; see the log above")
    return seconds


def _build_message(body: Message) -> Message:
    """Return the message in its first delivery."""
    fields = {"Body": json.dumps(body), "MD5OfBody": "", "Attributes": {"ApproximateReceiveCount": "1"}}
    return {"MessageId": "message", "ReceiptHandle": "handle", **fields}
