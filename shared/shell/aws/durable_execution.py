"""Lambda's durable executions: what a function does in checkpoints is not done again when it is replayed.

Guaranteed: what is kept of a failure is its kind, and its message only if it is one of ours; a database, bucket or
topic that is down is waited for, five minutes at a time and a day a checkpoint at most, which costs nothing; what is
wrong in itself is not tried again; no invocation goes on for more than so many checkpoints.
Not guaranteed: that a checkpoint's work is done once. It is done again when the process dies before it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aws_durable_execution_sdk_python import DurableContext, StepError, durable_execution
from aws_durable_execution_sdk_python.config import Duration, StepConfig
from aws_durable_execution_sdk_python.retries import RetryDecision

from core.errors import ConflictError, ExhibitIngestError, InvalidInputError, SagaStepError, UnavailableError
from core.saga import SagaContext, SagaEvent
from shell.invocation import invocation_deadline, log_failure

LONGEST_WAIT_S = 300
# The first eight waits double, the others are the longest: a day and some minutes.
ATTEMPTS, UNEXPECTED_ATTEMPTS = 296, 5
# A fresh invocation has its whole time before it; a wait is what ends one.
CHECKPOINTS_AN_INVOCATION = 10


class _FailedError(Exception):
    """What a checkpoint shows of an error; `most` is how often what failed so is tried."""

    most = UNEXPECTED_ATTEMPTS


class _NotNowError(_FailedError):
    most = ATTEMPTS


class _RefusedError(_FailedError):
    most = 1


class Checkpoints:
    """The checkpoints of one execution, in the order in which they are asked for; that must never differ."""

    def __init__(self, context: DurableContext) -> None:
        self._context = context
        self._count = 0

    def keep(self, name: str, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Do the work and keep its result, or give what was kept; raises SagaStepError once it failed for good."""
        self._take_breath()
        try:
            return self._context.step(lambda _step: self._guarded(work), name, StepConfig(retry_strategy=decide))
        except StepError as error:
            reason = error.message or "failed"
        # Outside: what the engine's error was caused by is nobody's business.
        raise SagaStepError(name, reason)

    def _take_breath(self) -> None:
        if self._count and self._count % CHECKPOINTS_AN_INVOCATION == 0:
            self._context.wait(Duration.from_seconds(1), f"breath-{self._count // CHECKPOINTS_AN_INVOCATION}")
        self._count += 1

    def _guarded(self, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        with invocation_deadline(self._context.lambda_context):
            try:
                return dict(work())
            except Exception as error:
                log_failure(error)
                failure = shown(error)
        # Here and not in `except`: the engine logs a failure with all that it was caused by, drivers' texts too.
        raise failure


def shown(error: Exception) -> Exception:
    """The error as it may be kept outside of the database: of what is not ours only the kind."""
    if not isinstance(error, ExhibitIngestError):
        return _FailedError(f"unexpected {type(error).__name__}; the log says where")
    if isinstance(error, UnavailableError) or (isinstance(error, ConflictError) and error.replayable):
        return _NotNowError(str(error))
    if isinstance(error, (InvalidInputError, ConflictError)):
        return _RefusedError(str(error))
    return _FailedError(str(error))


def decide(error: Exception, attempt: int) -> RetryDecision:
    """Whether a checkpoint whose `attempt`, from 1, failed so is tried again, and when."""
    most = error.most if isinstance(error, _FailedError) else UNEXPECTED_ATTEMPTS
    if attempt >= most:
        return RetryDecision.no_retry()
    return RetryDecision.retry(Duration.from_seconds(min(2**attempt, LONGEST_WAIT_S)))


class DurableJournal:
    """A saga's journal that checkpoints, and records what is told of its steps by `record`."""

    def __init__(self, checkpoints: Checkpoints, record: Callable[[SagaEvent], None]) -> None:
        self._checkpoints = checkpoints
        self._record = record

    def checkpointed(self, name: str, work: Callable[[], SagaContext]) -> SagaContext:
        """As `core.saga.Journal` says."""
        return self._checkpoints.keep(name, work)

    def tell(self, event: SagaEvent) -> None:
        """Record the event."""
        self._record(event)


def durable_handler(work: Callable[[Mapping[str, Any], Checkpoints], dict[str, Any]]) -> Callable[[Any, Any], Any]:
    """The Lambda handler of a durable function: `work` is replayed from its beginning in every invocation."""

    @durable_execution
    def lambda_handler(event: Any, context: DurableContext) -> dict[str, Any]:
        return work(event, Checkpoints(context))

    return lambda_handler
