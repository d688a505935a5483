"""A saga on a journal in memory: what is undone, in which order, what is reported; and three wrong sagas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.errors import SagaStepError
from core.saga import SagaContext, SagaEvent, SagaEventKind, SagaOrchestrator, SagaResult, SagaStep

Class = type[SagaOrchestrator]


class DiedError(BaseException):
    """The process is gone."""


@dataclass
class FakeJournal:
    """Keeps what was done; `dies_at` is a checkpoint that is done and not kept, once."""

    dies_at: str | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    events: list[SagaEvent] = field(default_factory=list)
    inside: bool = False

    def run_checkpointed(self, name: str, work: Callable[[], SagaContext]) -> SagaContext:
        """Do the work, or give what was kept of it."""
        if name not in self.kept:
            self.kept[name] = self._tried(name, work)
        if isinstance(self.kept[name], str):
            raise SagaStepError(name, self.kept[name])
        return dict(self.kept[name])

    def record_event(self, event: SagaEvent) -> None:
        """Remember the event."""
        assert self.inside
        self.events.append(event)

    def _tried(self, name: str, work: Callable[[], SagaContext]) -> SagaContext | str:
        self.inside = True
        try:
            result = work()
        except RuntimeError as error:
            return str(error)
        finally:
            self.inside = False
        if self.dies_at == name:
            self.dies_at = None
            raise DiedError
        return result


@dataclass
class Effects:
    """What steps did and undid, in order, and the contexts that they were given."""

    failing: Sequence[str] = ()
    done: list[str] = field(default_factory=list)
    given: list[tuple[str, SagaContext]] = field(default_factory=list)
    pivot: str = "c"
    happened: bool = False

    def steps(self, names: str = "abcd") -> list[SagaStep]:
        """Steps with these names, of which `b` has three parts; the last two have nothing to undo."""
        return [self._step(name, undone=name not in names[-2:]) for name in names]

    def _step(self, name: str, undone: bool) -> SagaStep:
        return SagaStep(
            name,
            lambda context: self._do(name, context),
            (lambda context: self._do(f"-{name}", context)) if undone else None,
            parts=(lambda _context: 3) if name == "b" else (lambda _context: 1),
            is_pivot=name == self.pivot,
            took_effect=(lambda _context: self.happened) if name == self.pivot else None,
        )

    def _do(self, what: str, context: SagaContext) -> SagaContext:
        # A step that fails has done something by then.
        label = f"b{context['part'] + 1}" if what == "b" else what
        self.done.append(label)
        self.given.append((label, dict(context)))
        if label in self.failing:
            raise RuntimeError(f"{label} is broken")
        return {label: True}


def run(*failing: str, of: Class = SagaOrchestrator, **more: Any) -> tuple[SagaResult, Effects, FakeJournal]:
    """A saga in which these steps or compensations fail for good."""
    effects, journal = Effects(failing, **more), FakeJournal()
    return of("7", effects.steps(), journal).run({"start": 1}), effects, journal


def undone(*failing: str, of: Class = SagaOrchestrator) -> list[str]:
    """What was undone, in order."""
    return [each for each in run(*failing, of=of)[1].done if each.startswith("-")]


def test_all_steps_run_part_by_part_and_their_results_are_merged() -> None:
    result, effects, journal = run()
    assert effects.done == ["a", "b1", "b2", "b3", "c", "d"]
    assert result.success
    assert result.context == {"start": 1, "a": True, "b1": True, "b2": True, "b3": True, "c": True, "d": True}
    assert list(journal.kept) == ["a", "b:1", "b:2", "b:3", "c", "d"]


def test_steps_and_compensations_are_given_their_key_and_parts_what_the_ones_before_returned() -> None:
    _, effects, _ = run("b2")
    assert {(label, context["key"]) for label, context in effects.given} == {
        *(("a", "7:a"), ("b1", "7:b"), ("b2", "7:b"), ("-b", "7:b"), ("-a", "7:a"))
    }
    contexts = dict(run()[1].given)
    assert [contexts[f"b{part}"]["part"] for part in (1, 2, 3)] == [0, 1, 2]
    assert contexts["b3"]["b2"]


@pytest.mark.parametrize(
    ("failing", "expected"), [("a", ["-a"]), ("b1", ["-b", "-a"]), ("b3", ["-b", "-a"]), ("c", ["-b", "-a"])]
)
def test_what_was_begun_is_undone_in_reverse_also_the_step_that_failed(failing: str, expected: list[str]) -> None:
    assert undone(failing) == expected
    result = run(failing)[0]
    assert (result.success, result.failed_step, result.error) == (False, failing[0], f"{failing} is broken")
    assert result.unfinished_steps == ()


def test_every_compensation_is_tried_and_those_that_failed_are_left() -> None:
    result, effects, _ = run("c", "-b", "-a")
    assert effects.done[-2:] == ["-b", "-a"]
    assert result.unfinished_steps == ("b", "a")
    assert run("c", "-b")[0].unfinished_steps == ("b",)


def test_nothing_is_undone_behind_the_pivot() -> None:
    result, effects, _ = run("d")
    assert effects.done == ["a", "b1", "b2", "b3", "c", "d"]
    assert (result.failed_step, result.unfinished_steps) == ("d", ("d",))


def test_a_pivot_that_happened_and_then_failed_is_gone_on_from() -> None:
    result, effects, journal = run("c", happened=True)
    assert effects.done == ["a", "b1", "b2", "b3", "c", "d"]
    assert result.success
    assert SagaEvent(SagaEventKind.COMPLETED, "c") in journal.events


def test_events_are_reported_in_their_order() -> None:
    events = run("b2", "-b")[2].events
    assert [f"{event.kind.removeprefix('saga.step.')} {event.step}" for event in events] == [
        *("executing a", "completed a", "executing b", "failed b"),
        *("compensating b", "compensation_failed b", "compensating a", "compensated a"),
    ]
    assert [event.reason for event in events if event.reason] == ["b2 is broken", "-b is broken"]


@pytest.mark.parametrize("name", ["a", "b:2", "b:failed", "b:compensation-failed", "a:compensate"])
def test_a_replay_repeats_nothing_that_was_kept(name: str) -> None:
    effects, journal = Effects(("b3", "-b")), FakeJournal(dies_at=name)
    with pytest.raises(DiedError):
        SagaOrchestrator("7", effects.steps(), journal).run({})
    repeated = effects.done.copy()
    result = SagaOrchestrator("7", effects.steps(), journal).run({})
    assert result.unfinished_steps == ("b",)
    assert len(effects.done) <= len(run("b3", "-b")[1].done) + 1
    assert effects.done[: len(repeated)] == repeated


def test_a_saga_that_was_begun_before_is_undone_as_a_whole() -> None:
    effects = Effects(("a",))
    result = SagaOrchestrator("7", effects.steps(), FakeJournal()).run({}, resumed=True)
    assert effects.done == ["a", "-b", "-a"]
    assert result.unfinished_steps == ()


def test_what_had_failed_is_undone_up_to_the_pivot_and_what_was_decided_is_finished() -> None:
    effects = Effects()
    result = SagaOrchestrator("7", effects.steps(), FakeJournal()).undo({}, "b", "why")
    assert effects.done == ["-b", "-a"]
    assert (result.success, result.failed_step, result.error) == (False, "b", "why")
    effects = Effects()
    assert SagaOrchestrator("7", effects.steps(), FakeJournal()).finish({}).success
    assert effects.done == ["d"]


def test_a_saga_without_a_pivot_is_undone_up_to_its_end() -> None:
    effects = Effects(("d",), pivot="")
    assert not SagaOrchestrator("7", effects.steps(), FakeJournal()).run({}).success
    assert effects.done[-2:] == ["-b", "-a"]


class RegisteringLate(SagaOrchestrator):
    """Registers a compensation once its step is done."""

    def _run_backward(self, context: SagaContext, registered: list[SagaStep], *failure: str | None) -> SagaResult:
        return super()._run_backward(context, registered[:-1], *failure)


class StoppingEarly(SagaOrchestrator):
    """Undoes nothing more once a compensation has failed."""

    _has_failed = False

    def _compensate(self, step: SagaStep, context: SagaContext) -> bool:
        self._has_failed = self._has_failed or not super()._compensate(step, context)
        return not self._has_failed


class UndoingInOrder(SagaOrchestrator):
    """Undoes first what was done first."""

    def _run_backward(self, context: SagaContext, registered: list[SagaStep], *failure: str | None) -> SagaResult:
        return super()._run_backward(context, registered[::-1], *failure)


@pytest.mark.parametrize(
    ("naive", "failing", "lost"),
    [
        (RegisteringLate, ("b2",), ["-a"]),
        (StoppingEarly, ("c", "-b"), ["-b"]),
        (UndoingInOrder, ("c",), ["-a", "-b"]),
    ],
)
def test_wrong_sagas_are_distinguished_from_this_one(naive: Class, failing: Sequence[str], lost: list[str]) -> None:
    assert undone(*failing) == ["-b", "-a"]
    assert undone(*failing, of=naive) == lost
