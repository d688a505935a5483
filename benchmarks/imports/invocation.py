"""Call handlers as Lambda does for an SQS message. Imports nothing from the application."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.errors import BenchmarkError
from local.event_sources.sqs_events import build_sqs_event

Message = Mapping[str, Any]
Handler = Callable[[dict[str, Any], Any], Any]
# The chunks of an invocation, as in template.yaml.
BATCH_SIZE = 10
_QUEUE = "arn:aws:sqs:us-east-1:123456789012:queue"


def batched(chunks: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the chunks of each invocation."""
    return (chunks[start : start + BATCH_SIZE] for start in range(0, len(chunks), BATCH_SIZE))


class _Context:
    """A Lambda context with 15 minutes of remaining time."""

    function_name = "benchmark"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:benchmark"
    aws_request_id = "benchmark"

    def get_remaining_time_in_millis(self) -> int:
        """Return the remaining time in milliseconds."""
        return 900_000


def time_handler(handler: Handler, *bodies: Message) -> float:
    """Return the seconds that the handler takes for a batch of messages. Raises BenchmarkError if any of them fails."""
    event = build_sqs_event(list(map(_build_message, bodies)), _QUEUE)
    began = time.perf_counter()
    response = handler(event, _Context())
    seconds = time.perf_counter() - began
    if response["batchItemFailures"]:
        raise BenchmarkError(f"{handler.__module__} failed; see the log above")
    return seconds


def _build_message(body: Message) -> Message:
    """Return the message in its first delivery."""
    fields = {"Body": json.dumps(body), "MD5OfBody": "", "Attributes": {"ApproximateReceiveCount": "1"}}
    return {"MessageId": json.dumps(body), "ReceiptHandle": "handle", **fields}
