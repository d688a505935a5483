"""Build Lambda handlers from operations.

Guaranteed: each SQS record is processed separately, and only failed ones are reported as batch item failures; a failure
is logged with its type and code location, never with the values that a driver's message quotes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from core.errors import BusyError, ImportBusyError
from shell.deadline import invocation_deadline
from shell.observability import log_failure, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

Handler = Callable[[dict[str, Any], Any], Any]
Postpone = Callable[[str, int], None]


def sqs_handler(work: Callable[[dict[str, Any]], object], postpone: Postpone | None = None) -> Handler:
    """Return a Lambda handler that calls `work` with the JSON object of each record's body and reports failed records.

    A record whose work another worker is doing (BusyError, ImportBusyError) fails like any other; `postpone` is called
    with its receipt handle and the error's `retry_after_s` to delay its redelivery. If that fails, it is only logged.
    """
    # Imported here, when a queue function is loaded: no other function needs it.
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

    def process_record(record: SQSRecord) -> None:
        with _postponing_busy(record, postpone), _logging_failures():
            work(json.loads(record.body))

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        with invocation_deadline(context):
            processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
            return process_partial_response(event, process_record, processor, context)

    return lambda_handler


@contextmanager
def _postponing_busy(record: SQSRecord, postpone: Postpone | None) -> Iterator[None]:
    try:
        yield
    except (BusyError, ImportBusyError) as busy:
        if postpone is not None:
            try:
                postpone(record.receipt_handle, busy.retry_after_s)
            except Exception as error:
                logger.warning("message not postponed", extra={"error": type(error).__name__})
        raise


def event_handler(work: Callable[[dict[str, Any]], object]) -> Handler:
    """Return a Lambda handler that calls `work` with the event."""

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        with invocation_deadline(context), _logging_failures():
            return work(event)

    return lambda_handler


@contextmanager
def _logging_failures() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        log_failure(error)
        raise
