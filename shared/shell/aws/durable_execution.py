"""Lambda durable execution: a function's checkpoints are kept, and a replay does not run them again.

Guaranteed: of a failure only its type is kept, and its message only if the error is one of this application's; while
a database, bucket or topic is down, a checkpoint is retried at intervals of at most five minutes for a day, and the
waits cost nothing; a permanent error is not retried; an invocation runs a bounded number of checkpoints.
Not guaranteed: that a checkpoint's work runs once. It runs again if the process dies before its result is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aws_durable_execution_sdk_python import DurableContext, StepError, durable_execution
from aws_durable_execution_sdk_python.config import Duration, StepConfig
from aws_durable_execution_sdk_python.retries import RetryDecision

from core.errors import ConflictError, ExhibitIngestError, InvalidInputError, SagaStepError, UnavailableError
from core.saga import SagaContext, SagaEvent
from shell.aws.key_refusals import KeyRefusedError
from shell.deadline import invocation_deadline
from shell.observability import log_failure, naming_tenant

LONGEST_WAIT_S = 300
# The first eight waits double, all others are the longest: a day and some minutes in total.
ATTEMPTS, UNEXPECTED_ATTEMPTS = 296, 5
# A wait ends the invocation; the next one starts with its full time.
CHECKPOINTS_PER_INVOCATION = 10


class _CheckpointError(Exception):
    """A checkpoint's failure as the engine keeps it; `max_attempts` limits its retries."""

    max_attempts = UNEXPECTED_ATTEMPTS


class _TransientError(_CheckpointError):
    max_attempts = ATTEMPTS


class _PermanentError(_CheckpointError):
    max_attempts = 1


class Checkpoints:
    """The checkpoints of one execution. Their order must be the same in every replay."""

    def __init__(self, context: DurableContext) -> None:
        self._context = context
        self._count = 0

    def run(self, name: str, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Run the work and keep its result, or return the kept result of an earlier run.

        Raises SagaStepError once the work has failed permanently or used up its attempts.
        """
        self._end_long_invocation()
        try:
            return self._context.step(lambda _step: self._run_work(work), name, StepConfig(retry_strategy=decide_retry))
        except StepError as error:
            reason = error.message or "failed"
        # Outside of `except`: the engine's error chain must not be attached.
        raise SagaStepError(name, reason)

    def _end_long_invocation(self) -> None:
        if self._count and self._count % CHECKPOINTS_PER_INVOCATION == 0:
            self._context.wait(Duration.from_seconds(1), f"pause-{self._count // CHECKPOINTS_PER_INVOCATION}")
        self._count += 1

    def _run_work(self, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        with invocation_deadline(self._context.lambda_context):
            try:
                return dict(work())
            except Exception as error:
                log_failure(error)
                failure = redact_error(error)
        # Outside of `except`: the engine logs a failure with its whole cause chain, which includes driver messages.
        raise failure


def redact_error(error: Exception) -> Exception:
    """Return the error in the form that may be kept outside of the database.

    Messages of this application's own errors are kept; of any other error only the type is.
    """
    if not isinstance(error, ExhibitIngestError):
        return _CheckpointError(f"unexpected {type(error).__name__}; see the function's log")
    # A key that is off for a while must not cost Bates numbers; its alarm goes off at once.
    is_waited_for = isinstance(error, (UnavailableError, KeyRefusedError))
    if is_waited_for or (isinstance(error, ConflictError) and error.retryable):
        return _TransientError(str(error))
    if isinstance(error, (InvalidInputError, ConflictError)):
        return _PermanentError(str(error))
    return _CheckpointError(str(error))


def decide_retry(error: Exception, attempt: int) -> RetryDecision:
    """Decide whether and when a checkpoint is retried after the failure of `attempt`, counted from 1."""
    max_attempts = error.max_attempts if isinstance(error, _CheckpointError) else UNEXPECTED_ATTEMPTS
    if attempt >= max_attempts:
        return RetryDecision.no_retry()
    return RetryDecision.retry(Duration.from_seconds(min(2**attempt, LONGEST_WAIT_S)))


class DurableJournal:
    """A saga's journal that checkpoints each step and passes the saga's events to `record`."""

    def __init__(self, checkpoints: Checkpoints, record: Callable[[SagaEvent], None]) -> None:
        self._checkpoints = checkpoints
        self._record = record

    def run_checkpointed(self, name: str, work: Callable[[], SagaContext]) -> SagaContext:
        """Implement `core.saga.Journal`."""
        return self._checkpoints.run(name, work)

    def record_event(self, event: SagaEvent) -> None:
        """Record the event."""
        self._record(event)


def durable_handler(work: Callable[[Mapping[str, Any], Checkpoints], dict[str, Any]]) -> Callable[[Any, Any], Any]:
    """Return the Lambda handler of a durable function; every invocation replays `work` from its beginning.

    Log lines name the tenant that the input has as `tenantId`.
    """

    @durable_execution
    def lambda_handler(event: Any, context: DurableContext) -> dict[str, Any]:
        with naming_tenant(event.get("tenantId")):
            return work(event, Checkpoints(context))

    return lambda_handler
