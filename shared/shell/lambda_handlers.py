"""Build Lambda handlers from operations.

Guaranteed: each SQS record is processed separately, and only failed ones are reported as batch item failures; a failure
is logged with its type and code location, never with the values that a driver's message quotes. What a failed record
had in memory is released before the next one. Log lines name the tenant of the record at hand, in each thread.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

from core.error_chain import walk_chain
from core.errors import (
    BusyError,
    ConflictError,
    DeadlineNearError,
    FinalConflictError,
    ImportBusyError,
    SettingsError,
    StorageRefusedError,
    UnavailableError,
)
from core.tenants.labels import find_label
from shell.aws.key_refusals import KeyRefusedError
from shell.aws.sqs import postpone, send_again
from shell.deadline import invocation_deadline, seconds_left
from shell.observability import emit_counts, log_failure, logger, naming_tenant
from shell.prefetch import prefetch
from shell.settings import Settings, settings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

Handler = Callable[[dict[str, Any], Any], Any]
Record = dict[str, Any]
QueueUrl = Callable[[Settings], str]
# Seconds until a failed message is delivered again, doubled with each delivery up to the visibility timeouts of queues.
FIRST_WAIT_S, LONGEST_WAIT_S = 5, 360
# The maxReceiveCount of the queues whose URLs handlers give.
MAX_DELIVERIES = 5
# An outage can last for hours: to use up the deliveries of a message would give it up.
_OUTAGES = (UnavailableError, ConflictError, SettingsError)
_LASTING = (StorageRefusedError, FinalConflictError, KeyRefusedError)
# Like an outage, but nothing is away: the message waits for another worker, or for an invocation with time for it.
_WAITS = (BusyError, ImportBusyError, DeadlineNearError)


def sqs_handler(
    work: Callable[[Any], object],
    queue_url: QueueUrl | None = None,
    prepare: Callable[[dict[str, Any]], Any] | None = None,
) -> Handler:
    """Return a Lambda handler that calls `work` with the JSON object of each record's body and reports failed records.

    With `prepare`, `work` gets what `prepare` returns for that object. `prepare` runs for the next record in another
    thread while `work` runs, and its errors are those of its record. In later deliveries it runs just before `work`,
    and the order is reversed each time, so that a record which always kills the function does not take its batch with
    it.

    No record is begun in less time than the slowest one of the invocation took, twice; such records are reported, too.

    `queue_url` selects the queue's URL from the settings. With it, a record is delivered again when that is worth it:
    at once if there was no time for it; if another worker does its work (BusyError, ImportBusyError), after the error's
    `retry_after_s`; after a failure that is not an outage, in 5 seconds, doubled with each delivery. All others are
    delivered again after the queue's visibility timeout, and so is a record whose visibility cannot be changed, which
    is only logged. In the last delivery before the dead-letter queue, a record that failed in an outage or for lack of
    time is sent again and acknowledged; the metric MessagesSentAgain counts those that failed in an outage.
    """
    # Imported here, when a queue function is loaded: no other function needs it.
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        event = {**event, "Records": _order_records(event["Records"])}
        pace = _Pace()

        def process_record(record: SQSRecord) -> None:
            with (
                naming_tenant(_find_tenant(record.raw_event)),
                _releasing_frames(),
                _delivering_again(record, queue_url),
                _logging_failures(),
                pace.timed(),
            ):
                work(next(inputs)())

        with invocation_deadline(context), closing(_read_inputs(event["Records"], prepare)) as inputs:
            processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
            return process_partial_response(event, process_record, processor, context)

    return lambda_handler


def _count_deliveries(record: Record) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])


def _find_tenant(record: Record) -> str | None:
    return find_label(record["body"], record["attributes"].get("MessageGroupId"))


def _order_records(records: list[Record]) -> list[Record]:
    """Return the records in the order of their work: those that were delivered less often first."""
    latest = max(map(_count_deliveries, records))
    return sorted(records if latest % 2 else reversed(records), key=_count_deliveries)


def _read_inputs(
    records: list[Record], prepare: Callable[[dict[str, Any]], Any] | None
) -> Generator[Callable[[], Any]]:
    """Yield a function for each record that returns the input of its work, or raises why there is none."""

    def read(record: Record) -> Any:
        with naming_tenant(_find_tenant(record)):
            message = json.loads(record["body"])
            return message if prepare is None else prepare(message)

    if prepare is None or max(map(_count_deliveries, records)) > 1:
        yield from (partial(read, record) for record in records)
    else:
        yield from prefetch(read, records)


class _Pace:
    """The time that the slowest record of an invocation took."""

    def __init__(self) -> None:
        self._slowest_s = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure the block; raise DeadlineNearError before it if the time left may be too short."""
        if seconds_left() < 2 * self._slowest_s:
            raise DeadlineNearError()
        began = time.monotonic()
        try:
            yield
        finally:
            self._slowest_s = max(self._slowest_s, time.monotonic() - began)


@contextmanager
def _releasing_frames() -> Iterator[None]:
    """Delete the local variables of what failed: the batch processor keeps every error, and an error its frames."""
    try:
        yield
    except Exception as error:
        for each in walk_chain(error):
            clear_frames(each.__traceback__)
        raise


@contextmanager
def _delivering_again(record: SQSRecord, queue_url: QueueUrl | None) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if queue_url is None or not _redeliver(queue_url(settings()), record, error):
            raise


def _redeliver(queue_url: str, record: SQSRecord, error: Exception) -> bool:
    """Choose when the record is delivered again; return True if a new message replaces it."""
    deliveries = int(record.attributes.approximate_receive_count)
    wait_s = choose_wait(error, deliveries)
    try:
        if deliveries >= MAX_DELIVERIES and is_outage(error):
            send_again(queue_url, record.body, record.attributes.get("MessageGroupId"), LONGEST_WAIT_S)
            if not isinstance(error, _WAITS):
                emit_counts(MessagesSentAgain=1)
            return True
        if wait_s is not None:
            postpone(queue_url, record.receipt_handle, wait_s)
    except Exception as failure:
        logger.warning("message not postponed", extra={"error": type(failure).__name__})
    return False


def choose_wait(error: Exception, deliveries: int) -> int | None:
    """Return the seconds until a message that failed at its nth delivery is worth another; None if unknown."""
    if isinstance(error, (BusyError, ImportBusyError)):
        return int(error.retry_after_s)
    if isinstance(error, DeadlineNearError):
        return 0
    return None if is_outage(error) else min(FIRST_WAIT_S << min(deliveries - 1, 10), LONGEST_WAIT_S)


def is_outage(error: Exception) -> bool:
    """Return whether the cause is a service, the deployment or another worker, and not what the message names.

    A refusal by the key is not an outage: it lasts until an operator acts, so its messages are dead-lettered,
    which the operator sees.
    """
    return isinstance(error, _OUTAGES) and not isinstance(error, _LASTING)


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


@contextmanager
def pause_gc() -> Iterator[None]:
    """Turn the cyclic garbage collector off for the block; reference counting still frees objects without cycles.

    For whole invocations: searching the rows of chunks, which have no cycles, took a tenth of their time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
