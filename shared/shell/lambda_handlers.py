"""How a Lambda invocation enters our code: its deadline, its records, and what is logged of its failures.

Guaranteed: every SQS record is a unit of work of its own and the failed ones alone are reported back; a failure is
logged with its kind, number and place in the code, never with the values that a driver's message quotes.
A Lambda that is killed by its time-out runs no `finally`: whoever retries asks `seconds_left` and stops in time to roll
back and report.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import BusyError, ExhibitIngestError, ImportBusyError
from shell.observability import logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

MARGIN_S = 2.0
_ends_at: ContextVar[float | None] = ContextVar("deadline", default=None)
Handler = Callable[[dict[str, Any], Any], Any]
Postpone = Callable[[str, int], None]


class LambdaContextLike(Protocol):
    """What of a Lambda context is used here."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function is killed."""
        ...


@contextmanager
def invocation_deadline(context: LambdaContextLike | None) -> Iterator[None]:
    """For the block, `seconds_left` counts down to `MARGIN_S` before the function is killed."""
    left = None if context is None else context.get_remaining_time_in_millis() / 1000 - MARGIN_S
    token = _ends_at.set(None if left is None else time.monotonic() + left)
    try:
        yield
    finally:
        _ends_at.reset(token)


def seconds_left() -> float:
    """Seconds that may still be spent; infinite outside of an invocation."""
    ends_at = _ends_at.get()
    return float("inf") if ends_at is None else ends_at - time.monotonic()


def sqs_handler(work: Callable[[dict[str, Any]], object], postpone: Postpone | None = None) -> Handler:
    """A Lambda handler that does the work for the JSON object in each record's body, and reports those that failed.

    A record whose work somebody else is doing is reported like any other, and `postpone`, called with its receipt
    handle and the error's `retry_after_s`, is to make the queue deliver it then; that it fails is only logged.
    """
    # Here, where functions of queues are made when they are imported: no other function needs it.
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

    def of_record(record: SQSRecord) -> None:
        with _postponed(record, postpone), _failures_logged():
            work(json.loads(record.body))

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        with invocation_deadline(context):
            processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
            return process_partial_response(event, of_record, processor, context)

    return lambda_handler


@contextmanager
def _postponed(record: SQSRecord, postpone: Postpone | None) -> Iterator[None]:
    try:
        yield
    except (BusyError, ImportBusyError) as busy:
        if postpone is not None:
            try:
                postpone(record.receipt_handle, busy.retry_after_s)
            except Exception as error:
                logger.warning("message not postponed", extra={"error": type(error).__name__})
        raise


def plain_handler(work: Callable[[dict[str, Any]], object]) -> Handler:
    """A Lambda handler that does the work for the event itself."""

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        with invocation_deadline(context), _failures_logged():
            return work(event)

    return lambda_handler


@contextmanager
def _failures_logged() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        log_failure(error)
        raise


def log_failure(error: Exception) -> None:
    """Log what kind of error it was and where; its message only if it is one of ours, which hold no values."""
    ours = str(error) if isinstance(error, ExhibitIngestError) else None
    where = traceback.format_tb(error.__traceback__)[-3:]
    log = logger.warning if isinstance(error, (BusyError, ImportBusyError)) else logger.error
    log("failed", extra={"error": type(error).__name__, "reason": ours, "where": where})
