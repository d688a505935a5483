"""The simulation: processors that are shared, queues, functions, and whole months, by seed."""

from __future__ import annotations

import math
from collections.abc import Generator
from random import Random
from typing import Any

import pytest
from simpy import Environment, Event

from benchmarks.imports.aurora_model import CHUNK_ROWS
from benchmarks.simulation.cell import CHUNK_VISIBILITY_S, MOST_RECEIVES, Cell, CellSettings, Import, Upload
from benchmarks.simulation.costs import Costs
from benchmarks.simulation.processors import SharedProcessors
from benchmarks.simulation.queues import KEPT_WARM_S, EventSource, Message, Queue, SourceSettings

MANY = 1_000.0
COSTS = Costs(row_s=0.0001, chunk_s=0.1, chunk_processors=1.0, start_s=0.5, split_row_s=0.001, complete_s=0.5)


class Application:
    """A function that works for a second on each batch, and dies on those that contain "poison"."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.batches: list[tuple[float, list[Any]]] = []
        self.running = self.most = 0

    def work(self, batch: list[Message]) -> Generator[Event, Any, list[Message] | None]:
        self.running += 1
        self.most = max(self.most, self.running)
        self.batches.append((self._env.now, [message.body for message in batch]))
        yield self._env.timeout(1)
        self.running -= 1
        return None if any(message.body == "poison" for message in batch) else []


def consume(settings: SourceSettings) -> tuple[Environment, Queue, Application]:
    env = Environment()
    queue, application = Queue(env, CHUNK_VISIBILITY_S, MOST_RECEIVES), Application(env)
    EventSource(env, queue, settings, application.work)
    return env, queue, application


def test_jobs_have_what_they_use_or_an_equal_share_of_it() -> None:
    env = Environment()
    processors, ends = SharedProcessors(env, 2.0), []
    for seconds in (1.0, 1.0, 2.0):
        job = processors.serve(seconds, 1.0)
        job.callbacks.append(lambda _: ends.append(env.now))
    env.run()
    # Three jobs for two processors run at two thirds; from 1.5 s on the last one runs at its own speed.
    assert ends == pytest.approx([1.5, 1.5, 2.5])
    processors.update()
    assert processors.used_s == pytest.approx(4.0)


def test_processors_that_come_and_go_delay_a_job_by_as_much() -> None:
    env = Environment()
    processors = SharedProcessors(env, 1.0)
    job = processors.serve(2.0, 1.0)
    for at, number in ((1.0, 0.0), (11.0, 0.5)):
        env.timeout(at, number).callbacks.append(lambda event: processors.resize(event.value))
    env.run(job)
    assert env.now == pytest.approx(13.0)


def test_no_more_invocations_run_than_the_concurrency_and_batches_are_filled() -> None:
    env, queue, application = consume(SourceSettings(batch_size=10, concurrency=3))
    queue.send([Message(number, "tenant") for number in range(55)])
    env.run()
    assert application.most == 3
    assert [len(batch) for _, batch in application.batches] == [10] * 5 + [5]
    assert [at for at, _ in application.batches] == [0, 0, 0, 1, 1, 1]


def test_messages_of_a_group_are_delivered_in_order_and_a_small_group_first() -> None:
    env, queue, application = consume(SourceSettings(batch_size=2, concurrency=1))
    queue.send([Message(("big", number), "big") for number in range(6)])
    queue.send([Message(("small", 0), "small")])
    env.run()
    delivered = [body for _, batch in application.batches for body in batch]
    assert [number for group, number in delivered if group == "big"] == list(range(6))
    assert ("small", 0) in delivered[2:4], "in the first batch after its arrival"


def test_in_one_group_a_small_import_waits_for_the_large_one() -> None:
    env, queue, application = consume(SourceSettings(batch_size=2, concurrency=1))
    queue.send([Message(("big", number), "tenant") for number in range(6)])
    queue.send([Message(("small", 0), "tenant")])
    env.run()
    assert application.batches[-1][1] == [("small", 0)]


def test_what_a_dead_function_had_comes_again_after_the_visibility_timeout_and_is_dead_in_the_end() -> None:
    env, queue, application = consume(SourceSettings(batch_size=1, concurrency=1))
    queue.send([Message("poison"), Message("fine")])
    env.run()
    poisoned = [at for at, batch in application.batches if batch == ["poison"]]
    assert poisoned == [n * (CHUNK_VISIBILITY_S + 1) for n in range(MOST_RECEIVES)]
    assert [message.body for message in queue.dead] == ["poison"]


def test_an_environment_that_was_idle_for_long_starts_cold_again() -> None:
    env, queue, application = consume(SourceSettings(1, 1, delivery_s=0.5, cold_start_s=2.0))
    for at in (0.0, 10.0, 20.0 + KEPT_WARM_S):
        env.timeout(at).callbacks.append(lambda _: queue.send([Message("x")]))
    env.run()
    assert [at for at, _ in application.batches] == [2.5, 10.5, 22.5 + KEPT_WARM_S]


def run_cell(settings: CellSettings, *uploads: Upload, processors: float = MANY, costs: Costs = COSTS) -> Cell:
    env = Environment()
    cell = Cell(env, SharedProcessors(env, processors), costs, settings, Random(1))
    env.process(cell.receive(uploads))
    env.run()
    return cell


def test_an_import_alone_takes_the_sum_of_its_steps() -> None:
    [made] = run_cell(CellSettings(4), Upload(7.0, "tenant", 500)).imports
    assert made.seconds == pytest.approx(0.5 + 0.5 + (0.05 + 0.1) + 0.5)
    assert made.rows == 500
    assert made.split_at - made.upload.at == pytest.approx(1.0)


def test_a_long_split_goes_on_in_other_invocations() -> None:
    costs = Costs(row_s=1e-6, chunk_s=0, chunk_processors=1, split_row_s=0.1)
    [made] = run_cell(CellSettings(4), Upload(0, "tenant", 20_000), costs=costs).imports
    assert made.split_at == pytest.approx(2_000)
    assert made.rows == 20_000


def test_every_row_is_imported_once_whatever_dies() -> None:
    uploads = [Upload(float(n), f"tenant {n % 3}", 1 + 7_001 * n) for n in range(20)]
    calm, deadly = (run_cell(CellSettings(3, deaths=share), *uploads) for share in (0.0, 0.2))
    for cell in (calm, deadly):
        assert [each.rows for each in cell.imports] == [each.rows for each in uploads]
        assert cell.open == 0
    assert (calm.killed, len(deadly.chunks.dead)) == (0, 0)
    assert deadly.killed > 0
    assert sum(each.seconds for each in deadly.imports) > sum(each.seconds for each in calm.imports)


def test_a_function_begins_no_chunk_that_it_may_not_finish() -> None:
    """One processor for eight functions: ten chunks take longer than the timeout, and no function is killed."""
    costs = Costs(row_s=0.001, chunk_s=0, chunk_processors=1, split_row_s=1e-6)
    cell = run_cell(CellSettings(8), Upload(0, "tenant", 200 * CHUNK_ROWS), processors=1.0, costs=costs)
    assert (cell.killed, cell.imports[0].rows, cell.chunks.dead) == (0, 200 * CHUNK_ROWS, [])


def test_chunks_of_one_import_wait_for_its_row() -> None:
    costs = Costs(row_s=1e-6, chunk_s=0, chunk_processors=1, import_row_s=1.0, split_row_s=1e-6)
    [made] = run_cell(CellSettings(50), Upload(0, "tenant", 50 * CHUNK_ROWS), costs=costs).imports
    # Five invocations of ten chunks; the time of the first is part of its chunks.
    assert made.ended_at == pytest.approx(40, rel=0.1)


def test_an_import_that_has_not_begun_has_no_times() -> None:
    assert Import(Upload(0, "tenant", 1), 1).seconds == math.inf
