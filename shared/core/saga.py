"""A saga: steps that commit one by one, and what undoes them when a later one fails for good.

Guaranteed, on a journal that keeps what it was given: a step's compensation is registered before the step runs; when a
step fails for good, the compensations of all steps that were registered run in reverse, each tried even when another
fails; nothing is compensated once the pivot has run; what is told of a step is told within the journal, so that a
replay does not tell it again.
Not guaranteed: that a step or compensation runs once. It is repeated after a crash, and a compensation also comes where
its step never happened: both must be idempotent, under the key that the context hands them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from core.errors import SagaStepError

SagaContext = Mapping[str, Any]
KEY, PART = "key", "part"


class SagaStepStatus(StrEnum):
    """How far a step got, as others see it."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    COMPENSATED = "compensated"


class SagaEventKind(StrEnum):
    """What is told of a step while a saga runs."""

    EXECUTING = "saga.step.executing"
    COMPLETED = "saga.step.completed"
    FAILED = "saga.step.failed"
    COMPENSATING = "saga.step.compensating"
    COMPENSATED = "saga.step.compensated"
    COMPENSATION_FAILED = "saga.step.compensation_failed"


@dataclass(frozen=True)
class SagaEvent:
    """Something that happened to a step; `reason` with the two failures."""

    kind: SagaEventKind
    step: str
    reason: str | None = None


class Journal(Protocol):
    """What remembers a saga: an engine that checkpoints, such as Lambda's durable execution."""

    def checkpointed(self, name: str, work: Callable[[], SagaContext]) -> SagaContext:
        """Do the work and keep its result; a replay gets what was kept. What fails is tried again.

        Raises SagaStepError once it has failed for good.
        """
        ...

    def tell(self, event: SagaEvent) -> None:
        """Record and log the event; called within `checkpointed` alone."""
        ...


def _one_part(_context: SagaContext) -> int:
    return 1


@dataclass(frozen=True)
class SagaStep:
    """A step: `execute` gives what is merged into the context, `compensate` undoes all that `execute` may have done.

    Both get the context with `key`, the saga's id and the step's name. A long step has `parts`, each checkpointed: the
    context then holds `part`, from 0. After the step that `is_pivot`, nothing is undone any more; when that one itself
    failed, `took_effect` says whether it happened before it did.
    """

    name: str
    execute: Callable[[SagaContext], SagaContext]
    compensate: Callable[[SagaContext], object] | None = None
    parts: Callable[[SagaContext], int] = _one_part
    is_pivot: bool = False
    took_effect: Callable[[SagaContext], bool] | None = None


@dataclass(frozen=True)
class SagaResult:
    """How a saga ended; `left` are the steps that could not be undone or, after the pivot, not be done."""

    success: bool
    context: SagaContext
    failed_step: str | None = None
    error: str | None = None
    statuses: Mapping[str, SagaStepStatus] = field(default_factory=dict)
    left: tuple[str, ...] = ()

    def raise_for_failure(self) -> None:
        """Raise SagaStepError with step and reason unless the saga succeeded."""
        if not self.success:
            raise SagaStepError(self.failed_step or "", self.error or "")


class SagaOrchestrator:
    """Runs the steps of one saga on a journal; deterministic, so that the journal can replay it."""

    def __init__(self, saga_id: str, steps: Sequence[SagaStep], journal: Journal) -> None:
        self._saga_id = saga_id
        self._steps = tuple(steps)
        self._journal = journal
        self._statuses = {step.name: SagaStepStatus.PENDING for step in self._steps}

    def run(self, context: SagaContext, begun: bool = False) -> SagaResult:
        """All steps; if one before the pivot fails for good, the compensations of those that were begun.

        Where an earlier run had `begun`, that may have been any of them: then the compensations of all up to the pivot.
        """
        return self._forward(context, self._steps, begun=self._steps[: self._pivot() + 1] if begun else ())

    def finish(self, context: SagaContext) -> SagaResult:
        """The steps behind the pivot, for a saga that had come so far."""
        return self._forward(context, self._steps[self._pivot() + 1 :], past_pivot=True)

    def undo(self, context: SagaContext, failed_step: str | None, error: str | None) -> SagaResult:
        """The compensations of all steps up to the pivot, for a saga that had failed; some may have been done."""
        return self._backward(context, list(self._steps[: self._pivot() + 1]), failed_step, error)

    def _pivot(self) -> int:
        return next((place for place, step in enumerate(self._steps) if step.is_pivot), len(self._steps) - 1)

    def _forward(
        self, context: SagaContext, steps: Sequence[SagaStep], past_pivot: bool = False, begun: Sequence[SagaStep] = ()
    ) -> SagaResult:
        registered = list(begun)
        for step in steps:
            if step not in registered:
                registered.append(step)
            try:
                context = self._execute(step, context)
            except SagaStepError as error:
                if not self._took_effect(step, context):
                    self._failed(step, SagaEventKind.FAILED, error.reason)
                    if past_pivot:
                        return self._ended(context, step.name, error.reason, (step.name,))
                    return self._backward(context, registered, step.name, error.reason)
            self._statuses[step.name] = SagaStepStatus.COMPLETED
            past_pivot = past_pivot or step.is_pivot
        return self._ended(context, None, None, ())

    def _took_effect(self, step: SagaStep, context: SagaContext) -> bool:
        """Of a step that can say so, nothing is undone before it is known whether it happened though it failed."""
        if step.took_effect is None:
            return False
        asked = step.took_effect

        def work() -> SagaContext:
            happened = asked({**context, KEY: self._key(step)})
            if happened:
                self._journal.tell(SagaEvent(SagaEventKind.COMPLETED, step.name))
            return {"happened": happened}

        return bool(self._journal.checkpointed(f"{step.name}:outcome", work)["happened"])

    def _execute(self, step: SagaStep, context: SagaContext) -> SagaContext:
        parts = step.parts(context)
        for part in range(parts):
            given = {**context, KEY: self._key(step), PART: part}
            result = self._journal.checkpointed(_name(step, part, parts), self._work(step, given, parts))
            context = {**context, **result}
        return context

    def _work(self, step: SagaStep, given: SagaContext, parts: int) -> Callable[[], SagaContext]:
        def work() -> SagaContext:
            if given[PART] == 0:
                self._journal.tell(SagaEvent(SagaEventKind.EXECUTING, step.name))
            result = step.execute(given)
            if given[PART] == parts - 1:
                self._journal.tell(SagaEvent(SagaEventKind.COMPLETED, step.name))
            return result

        return work

    def _backward(
        self, context: SagaContext, registered: list[SagaStep], failed_step: str | None, error: str | None
    ) -> SagaResult:
        left = [step.name for step in reversed(registered) if step.compensate and not self._compensated(step, context)]
        return self._ended(context, failed_step, error or "", tuple(left))

    def _compensated(self, step: SagaStep, context: SagaContext) -> bool:
        def work() -> SagaContext:
            self._journal.tell(SagaEvent(SagaEventKind.COMPENSATING, step.name))
            if step.compensate:
                step.compensate({**context, KEY: self._key(step)})
            self._journal.tell(SagaEvent(SagaEventKind.COMPENSATED, step.name))
            return {}

        try:
            self._journal.checkpointed(f"{step.name}:compensate", work)
        except SagaStepError as error:
            self._failed(step, SagaEventKind.COMPENSATION_FAILED, error.reason)
            return False
        self._statuses[step.name] = SagaStepStatus.COMPENSATED
        return True

    def _failed(self, step: SagaStep, kind: SagaEventKind, reason: str) -> None:
        self._statuses[step.name] = SagaStepStatus.FAILED

        def work() -> SagaContext:
            self._journal.tell(SagaEvent(kind, step.name, reason))
            return {}

        suffix = "failed" if kind is SagaEventKind.FAILED else "compensation-failed"
        self._journal.checkpointed(f"{step.name}:{suffix}", work)

    def _ended(self, context: SagaContext, step: str | None, error: str | None, left: tuple[str, ...]) -> SagaResult:
        success = error is None
        return SagaResult(success, context, step, error, dict(self._statuses), left)

    def _key(self, step: SagaStep) -> str:
        return f"{self._saga_id}:{step.name}"


def _name(step: SagaStep, part: int, parts: int) -> str:
    return step.name if parts == 1 else f"{step.name}:{part + 1}"
