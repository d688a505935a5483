"""A saga: steps that commit one by one, and the compensations that undo them when a later step fails for good.

Guaranteed, on a journal that keeps what it records: a step's compensation is registered before the step runs; when a
step fails for good, the compensations of all registered steps run in reverse order, each of them even if another one
fails; no step is compensated once the pivot has run; events are recorded within a checkpoint, so that a replay does not
record them again.
Not guaranteed: that a step or a compensation runs exactly once. It is repeated after a crash, and a compensation also
runs if its step never took effect. Both must be idempotent under the key that the context holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from core.errors import SagaStepError

SagaContext = Mapping[str, Any]
KEY, PART = "key", "part"


class SagaStepStatus(StrEnum):
    """The status of a step."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    COMPENSATED = "compensated"


class SagaEventKind(StrEnum):
    """The kind of a step's event."""

    EXECUTING = "saga.step.executing"
    COMPLETED = "saga.step.completed"
    FAILED = "saga.step.failed"
    COMPENSATING = "saga.step.compensating"
    COMPENSATED = "saga.step.compensated"
    COMPENSATION_FAILED = "saga.step.compensation_failed"


@dataclass(frozen=True)
class SagaEvent:
    """An event of a step; the two failures have a `reason`."""

    kind: SagaEventKind
    step: str
    reason: str | None = None


class Journal(Protocol):
    """The memory of a saga: an engine that checkpoints, such as a Lambda durable execution."""

    def run_checkpointed(self, name: str, work: Callable[[], SagaContext]) -> SagaContext:
        """Run the work, retrying failures, and store its result; a replay returns the stored result.

        Raises SagaStepError when the work has failed for good.
        """
        ...

    def record_event(self, event: SagaEvent) -> None:
        """Record and log the event. Called only within `run_checkpointed`."""
        ...


def _one_part(_context: SagaContext) -> int:
    return 1


@dataclass(frozen=True)
class SagaStep:
    """A step: `execute` returns what is merged into the context, `compensate` undoes whatever `execute` may have done.

    Both receive the context with `key`, which is made of the saga's id and the step's name. A long step has `parts`,
    each checkpointed; its context then holds `part`, from 0. No step is compensated after the step that `is_pivot`. If
    the pivot itself fails, `took_effect` says whether it took effect nevertheless.
    """

    name: str
    execute: Callable[[SagaContext], SagaContext]
    compensate: Callable[[SagaContext], object] | None = None
    parts: Callable[[SagaContext], int] = _one_part
    is_pivot: bool = False
    took_effect: Callable[[SagaContext], bool] | None = None


@dataclass(frozen=True)
class SagaResult:
    """The result of a saga.

    `unfinished_steps` are the steps that could not be compensated or, after the pivot, not be executed.
    """

    success: bool
    context: SagaContext
    failed_step: str | None = None
    error: str | None = None
    unfinished_steps: tuple[str, ...] = ()


class SagaOrchestrator:
    """Runs the steps of one saga on a journal. It is deterministic, so that the journal can replay it."""

    def __init__(self, saga_id: str, steps: Sequence[SagaStep], journal: Journal) -> None:
        self._saga_id = saga_id
        self._steps = tuple(steps)
        self._journal = journal

    def run(self, context: SagaContext, resumed: bool = False) -> SagaResult:
        """Run all steps; if one before the pivot fails for good, compensate the steps that were started.

        `resumed` means that an earlier run may have started any step: then all steps up to the pivot are compensated.
        """
        return self._run_forward(context, self._steps, started=self._steps[: self._pivot() + 1] if resumed else ())

    def finish(self, context: SagaContext) -> SagaResult:
        """Run the steps after the pivot, for a saga that had passed it."""
        return self._run_forward(context, self._steps[self._pivot() + 1 :], past_pivot=True)

    def undo(self, context: SagaContext, failed_step: str | None, error: str | None) -> SagaResult:
        """Compensate all steps up to the pivot, for a saga that had failed; some may be compensated already."""
        return self._run_backward(context, list(self._steps[: self._pivot() + 1]), failed_step, error)

    def _pivot(self) -> int:
        return next((index for index, step in enumerate(self._steps) if step.is_pivot), len(self._steps) - 1)

    def _run_forward(
        self,
        context: SagaContext,
        steps: Sequence[SagaStep],
        past_pivot: bool = False,
        started: Sequence[SagaStep] = (),
    ) -> SagaResult:
        registered = list(started)
        for step in steps:
            if step not in registered:
                registered.append(step)
            try:
                context = self._execute(step, context)
            except SagaStepError as error:
                if not self._took_effect(step, context):
                    self._record_failure(step, SagaEventKind.FAILED, error.reason)
                    if past_pivot:
                        return SagaResult(False, context, step.name, error.reason, (step.name,))
                    return self._run_backward(context, registered, step.name, error.reason)
            past_pivot = past_pivot or step.is_pivot
        return SagaResult(True, context)

    def _took_effect(self, step: SagaStep, context: SagaContext) -> bool:
        """Check whether a failed step took effect nevertheless, before anything is compensated."""
        if step.took_effect is None:
            return False
        check = step.took_effect

        def work() -> SagaContext:
            happened = check({**context, KEY: self._key(step)})
            if happened:
                self._journal.record_event(SagaEvent(SagaEventKind.COMPLETED, step.name))
            return {"happened": happened}

        return bool(self._journal.run_checkpointed(f"{step.name}:outcome", work)["happened"])

    def _execute(self, step: SagaStep, context: SagaContext) -> SagaContext:
        parts = step.parts(context)
        for part in range(parts):
            part_context = {**context, KEY: self._key(step), PART: part}
            work = self._part_work(step, part_context, parts)
            context = {**context, **self._journal.run_checkpointed(_checkpoint_name(step, part, parts), work)}
        return context

    def _part_work(self, step: SagaStep, part_context: SagaContext, parts: int) -> Callable[[], SagaContext]:
        def work() -> SagaContext:
            if part_context[PART] == 0:
                self._journal.record_event(SagaEvent(SagaEventKind.EXECUTING, step.name))
            result = step.execute(part_context)
            if part_context[PART] == parts - 1:
                self._journal.record_event(SagaEvent(SagaEventKind.COMPLETED, step.name))
            return result

        return work

    def _run_backward(
        self, context: SagaContext, registered: list[SagaStep], failed_step: str | None, error: str | None
    ) -> SagaResult:
        unfinished = [
            step.name for step in reversed(registered) if step.compensate and not self._compensate(step, context)
        ]
        return SagaResult(False, context, failed_step, error or "", tuple(unfinished))

    def _compensate(self, step: SagaStep, context: SagaContext) -> bool:
        def work() -> SagaContext:
            self._journal.record_event(SagaEvent(SagaEventKind.COMPENSATING, step.name))
            if step.compensate:
                step.compensate({**context, KEY: self._key(step)})
            self._journal.record_event(SagaEvent(SagaEventKind.COMPENSATED, step.name))
            return {}

        try:
            self._journal.run_checkpointed(f"{step.name}:compensate", work)
        except SagaStepError as error:
            self._record_failure(step, SagaEventKind.COMPENSATION_FAILED, error.reason)
            return False
        return True

    def _record_failure(self, step: SagaStep, kind: SagaEventKind, reason: str) -> None:
        def work() -> SagaContext:
            self._journal.record_event(SagaEvent(kind, step.name, reason))
            return {}

        suffix = "failed" if kind is SagaEventKind.FAILED else "compensation-failed"
        self._journal.run_checkpointed(f"{step.name}:{suffix}", work)

    def _key(self, step: SagaStep) -> str:
        return f"{self._saga_id}:{step.name}"


def _checkpoint_name(step: SagaStep, part: int, parts: int) -> str:
    return step.name if parts == 1 else f"{step.name}:{part + 1}"
