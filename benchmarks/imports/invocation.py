"""Handlers called as Lambda calls them for a message of SQS. Imports nothing of the application."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.errors import BenchmarkError
from local.sqs_events import sqs_event

Message = Mapping[str, Any]
Handler = Callable[[dict[str, Any], Any], Any]
_QUEUE = "arn:aws:sqs:us-east-1:123456789012:queue"


class _Context:
    """A Lambda context with plenty of time."""

    function_name = "benchmark"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:benchmark"
    aws_request_id = "benchmark"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds."""
        return 900_000


def seconds_of(handler: Handler, body: Message) -> float:
    """How long the handler takes with that message; raises BenchmarkError where it wants it once more."""
    event = sqs_event([_message(body)], _QUEUE)
    began = time.perf_counter()
    answer = handler(event, _Context())
    seconds = time.perf_counter() - began
    if answer["batchItemFailures"]:
        raise BenchmarkError(f"{handler.__module__} failed; the log above says why")
    return seconds


def _message(body: Message) -> Message:
    """As SQS gives it the first time."""
    said = {"Body": json.dumps(body), "MD5OfBody": "", "Attributes": {"ApproximateReceiveCount": "1"}}
    return {"MessageId": "message", "ReceiptHandle": "handle", **said}
