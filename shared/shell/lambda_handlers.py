"""Build Lambda handlers from operations.

Guaranteed: each SQS record is processed separately, and only failed ones are reported as batch item failures; a failure
is logged with its type and code location, never with the values that a driver's message quotes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from core.errors import BusyError, ConflictError, ImportBusyError, SettingsError, UnavailableError
from shell.aws.sqs import postpone
from shell.deadline import invocation_deadline
from shell.observability import log_failure, logger
from shell.settings import Settings, settings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

Handler = Callable[[dict[str, Any], Any], Any]
QueueUrl = Callable[[Settings], str]
# Seconds until a failed message is delivered again, doubled with each delivery up to the visibility timeouts of queues.
FIRST_WAIT_S, LONGEST_WAIT_S = 5, 360
# An outage can last for hours: to use up the deliveries of a message within minutes would give it up.
_OUTAGES = (UnavailableError, ConflictError, SettingsError)


def sqs_handler(work: Callable[[dict[str, Any]], object], queue_url: QueueUrl | None = None) -> Handler:
    """Return a Lambda handler that calls `work` with the JSON object of each record's body and reports failed records.

    `queue_url` selects the queue's URL from the settings. With it, a record is delivered again when that is worth it:
    if another worker does its work (BusyError, ImportBusyError), after the error's `retry_after_s`; after a failure
    that is not an outage, in 5 seconds, doubled with each delivery. All others are delivered again after the queue's
    visibility timeout, and so is a record whose visibility cannot be changed, which is only logged.
    """
    # Imported here, when a queue function is loaded: no other function needs it.
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

    def process_record(record: SQSRecord) -> None:
        with _delivering_again(record, queue_url), _logging_failures():
            work(json.loads(record.body))

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        with invocation_deadline(context):
            processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
            return process_partial_response(event, process_record, processor, context)

    return lambda_handler


@contextmanager
def _delivering_again(record: SQSRecord, queue_url: QueueUrl | None) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        wait_s = choose_wait(error, int(record.attributes.approximate_receive_count))
        if queue_url is not None and wait_s is not None:
            try:
                postpone(queue_url(settings()), record.receipt_handle, wait_s)
            except Exception as failure:
                logger.warning("message not postponed", extra={"error": type(failure).__name__})
        raise


def choose_wait(error: Exception, deliveries: int) -> int | None:
    """Return the seconds until a message that failed at its nth delivery is worth another; None if unknown."""
    if isinstance(error, (BusyError, ImportBusyError)):
        return int(error.retry_after_s)
    if isinstance(error, _OUTAGES):
        return None
    return min(FIRST_WAIT_S << min(deliveries - 1, 10), LONGEST_WAIT_S)


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
