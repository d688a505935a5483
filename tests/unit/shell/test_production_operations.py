"""A production needs fewer durable operations than Lambda allows in an execution, 3,000, whatever its documents are."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from aws_durable_execution_sdk_python import StepError

from core.errors import InvalidInputError
from core.productions.parts import MAX_OBJECTS, MAX_PART_OBJECTS, count_parts_per_step, split_parts
from core.productions.volume import MAX_DOCUMENTS
from core.saga import PART, SagaContext, SagaStep
from shell.aws.durable_execution import Checkpoints
from shell.productions import saga, steps
from shell.productions.documents import PART_SIZE
from shell.tables.productions import Productions

MOST = 2_500


class Counting:
    """A durable context that counts what it keeps: steps and waits. Retries of a step are the same operation."""

    lambda_context = None

    def __init__(self) -> None:
        # The execution itself.
        self.operations = 1

    def step(self, work: Callable[[object], Any], name: str, _config: object) -> Any:
        self.operations += 1
        try:
            return work(None)
        except Exception as error:
            raise StepError(str(error)) from error

    def wait(self, _duration: object, _name: str) -> None:
        self.operations += 1


def fail(_context: SagaContext) -> SagaContext:
    raise InvalidInputError("refused")


def count_operations(monkeypatch: pytest.MonkeyPatch, saga_steps: Sequence[SagaStep]) -> int:
    context = Counting()
    monkeypatch.setattr(saga, "get_state", lambda _id: {"status": "requested"})
    monkeypatch.setattr(saga, "record_step_event", lambda _id, _event: None)
    monkeypatch.setattr(saga, "close", lambda _id, unfinished: {"status": "needs_attention", "unfinished": unfinished})
    saga.produce({"productionId": 1, "generation": 1}, Checkpoints(context), saga_steps)  # type: ignore[arg-type]
    return context.operations


def build_failing(parts: int, size: int) -> list[SagaStep]:
    """The saga that has the most operations: all is done but the confirmation, and nothing can be undone."""
    reserved = {steps.PARTS: parts, steps.PARTS_PER_STEP: size}
    executes = {"reserve": lambda _context: reserved, "confirm": fail}
    return [
        replace(
            step,
            execute=executes.get(step.name, lambda _context: {}),
            compensate=fail if step.compensate else None,
            took_effect=(lambda _context: False) if step.took_effect else None,
        )
        for step in saga.STEPS
    ]


def count_alike(pages: int) -> int:
    """The parts of as many documents of so many pages as a production may have."""
    return -(-min(MAX_DOCUMENTS, MAX_OBJECTS // pages) // min(PART_SIZE, max(1, MAX_PART_OBJECTS // pages)))


@pytest.mark.parametrize("pages", [1, 3, 20, 334, 501, 999, 1_000, 1_001, 2_000])
def test_documents_with_equally_many_pages_have_this_many_parts(pages: int) -> None:
    documents = min(MAX_DOCUMENTS, MAX_OBJECTS // pages)
    assert count_alike(pages) == len(split_parts([pages] * documents, PART_SIZE))


def test_no_production_has_more_than_2500_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 to 2,000 pages each, and layouts that fill parts badly. Without groups of parts, 501 pages have 4,410."""
    drawn = random.Random(1)
    mixed = [[drawn.randint(1, 2_000) for _ in range(2_000)] for _ in range(20)]
    layouts = [*mixed, [1, 1_000] * 1_998, [0] * MAX_DOCUMENTS, [100_000] * 20]
    parts = {*map(count_alike, range(1, 2_001)), *(len(split_parts(files, PART_SIZE)) for files in layouts)}
    assert max(parts) > MOST
    # Only the number of steps decides; two of the numbers of parts have the most.
    longest = sorted(parts, key=count_steps)[-2:]
    needed = [count_operations(monkeypatch, build_failing(n, count_parts_per_step(n))) for n in longest]
    print(f"up to {max(parts)} parts, {max(needed)} operations")
    assert max(needed) <= MOST


def count_steps(parts: int) -> int:
    return steps.count_copy_steps({steps.PARTS: parts, steps.PARTS_PER_STEP: count_parts_per_step(parts)})


def test_without_groups_there_would_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_operations(monkeypatch, build_failing(3_992, 1)) > 3_000


@pytest.mark.parametrize("parts", [0, 1, 2, 1_999, 2_000, 2_001, 3_992, 4_001])
def test_the_steps_copy_each_part_once_and_in_order(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    copied: list[int] = []
    context = {steps.PARTS: parts, steps.PARTS_PER_STEP: count_parts_per_step(parts)}
    context |= {steps.PRODUCTION: 1, steps.DESTINATION: 1, steps.POSITION: 1}
    production = Productions(id=1, documents=parts, parts=json.dumps(list(range(parts))))
    monkeypatch.setattr(steps, "_load_with_case", lambda _id: (production, "case"))
    done: list[int] = []
    monkeypatch.setattr(steps, "touch_active_production", lambda _id, _step, documents: done.append(documents))
    monkeypatch.setattr(steps, "_copy_part", lambda _production, _case, _start, part: copied.append(part))
    for step in range(steps.count_copy_steps(context) - 2):
        steps.copy({**context, PART: step})
    assert copied == list(range(parts))
    assert done == copied, "documents that are copied before each part"


def test_an_execution_of_the_version_before_keeps_a_step_for_each_part() -> None:
    """Its checkpoint of `reserve` has no number of parts per step; its later steps are named and done as before."""
    assert steps.count_copy_steps({steps.PARTS: 2_500}) == 2_502
