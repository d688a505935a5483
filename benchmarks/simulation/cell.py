"""One cell: its queues, functions and database, and the import of each file that is uploaded to it.

A file is split by one function, in slices of at most SPLIT_SLICE_S; then its chunks wait in their queue, and the last
has the import completed. Guaranteed: a chunk is imported once, whatever invocation was killed before it.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from random import Random
from typing import Any

from simpy import Environment, Event

from benchmarks.imports.aurora_model import CHUNK_ROWS
from benchmarks.simulation.costs import Costs
from benchmarks.simulation.processors import SharedProcessors
from benchmarks.simulation.queues import EventSource, Message, Queue, SourceSettings

# As in template.yaml: timeouts of functions and of queues, and how often a message is received.
CHUNK_TIMEOUT_S, CHUNK_VISIBILITY_S, SPLIT_VISIBILITY_S, MOST_RECEIVES = 60.0, 360.0, 960.0, 5
# docs/operations.md, "Sizing": after about 14 minutes, a split goes on in another invocation.
SPLIT_SLICE_S = 840.0
# Chunks are sent in pages; chunks that follow each other take one step of the simulation, if it is a short one.
_PAGE, _STEP_S = 1_000, 5.0
# A function stops so many seconds before it is killed (`shell.deadline`).
_MARGIN_S = 2.0


@dataclass(frozen=True)
class Upload:
    """A file of a tenant, and when it arrives, in seconds since the beginning."""

    at: float
    tenant: str
    rows: int


@dataclass(slots=True, eq=False)
class Import:
    """An import: the times of its steps, infinite before them, and the numbers of the chunks that are imported."""

    upload: Upload
    chunk_count: int
    rows: int = 0
    done: set[int] = field(default_factory=set)
    split_rows: int = 0
    row_free_at: float = 0.0
    started_at: float = math.inf
    split_at: float = math.inf
    ended_at: float = math.inf

    @property
    def seconds(self) -> float:
        """From the upload to the end."""
        return self.ended_at - self.upload.at


@dataclass(frozen=True)
class CellSettings:
    """BatchSize and MaximumConcurrency of chunks; MaximumConcurrency of splits and completions.

    `deaths` is the share of invocations of chunks that die before their end.
    """

    chunk_concurrency: int
    batch_size: int = 10
    split_concurrency: int = 4
    complete_concurrency: int = 4
    deaths: float = 0.0


class Cell:
    """The model of a cell whose work shares the processors. Each death is drawn with `random`."""

    def __init__(
        self, env: Environment, processors: SharedProcessors, costs: Costs, settings: CellSettings, random: Random
    ) -> None:
        self._env, self._processors, self._costs, self._random = env, processors, costs, random
        self._deaths = settings.deaths
        self.imports: list[Import] = []
        self.open, self._arrival = 0, env.event()
        self.killed = 0
        self.requests = Queue(env, SPLIT_VISIBILITY_S, MOST_RECEIVES)
        self.chunks = Queue(env, CHUNK_VISIBILITY_S, MOST_RECEIVES)
        self.completions = Queue(env, SPLIT_VISIBILITY_S, MOST_RECEIVES)
        self.split_source = EventSource(env, self.requests, self._source(1, settings.split_concurrency), self._split)
        chunk_settings = self._source(settings.batch_size, settings.chunk_concurrency)
        self.chunk_source = EventSource(env, self.chunks, chunk_settings, self._import_chunks)
        complete_settings = self._source(1, settings.complete_concurrency)
        self.complete_source = EventSource(env, self.completions, complete_settings, self._complete)

    def _source(self, batch_size: int, concurrency: int) -> SourceSettings:
        return SourceSettings(batch_size, concurrency, self._costs.delivery_s, self._costs.cold_start_s)

    def receive(self, uploads: Iterable[Upload]) -> Generator[Event, Any, None]:
        """Let the files arrive, which are in the order of their times."""
        for upload in uploads:
            yield self._env.timeout(upload.at - self._env.now)
            self.upload(upload)

    def upload(self, upload: Upload) -> Import:
        """Let a file arrive now. S3 sends its notification without a group."""
        made = Import(upload, math.ceil(upload.rows / CHUNK_ROWS))
        self.imports.append(made)
        self.open += 1
        if not self._arrival.triggered:
            self._arrival.succeed()
        self.requests.send([Message(made)])
        return made

    def wait_for_work(self) -> Event:
        """Return the event of the next upload."""
        self._arrival = self._env.event()
        return self._arrival

    def send_chunks(self, made: Import, chunks: range) -> None:
        """Queue chunks of an import."""
        self.chunks.send(Message((made, number), made.upload.tenant) for number in chunks)

    def _split(self, batch: list[Message]) -> Generator[Event, Any, list[Message]]:
        [message] = batch
        made: Import = message.body
        made.started_at = min(made.started_at, self._env.now)
        costs = self._costs
        rows = min(made.upload.rows - made.split_rows, max(1, int(SPLIT_SLICE_S / costs.split_row_s)))
        yield self._processors.serve(costs.start_s + rows * costs.split_row_s, costs.split_processors)
        made.split_rows += rows
        if made.split_rows < made.upload.rows:
            self.requests.send([Message(made, made.upload.tenant)])
            return []
        made.split_at = self._env.now
        chunks = range(made.chunk_count)
        for first in range(0, len(chunks), _PAGE):
            page = chunks[first : first + _PAGE]
            yield self._env.timeout(math.ceil(len(page) / 10) * costs.send_s)
            self.send_chunks(made, page)
        return []

    def _import_chunks(self, batch: list[Message]) -> Generator[Event, Any, list[Message] | None]:
        killed_at = self._env.now + CHUNK_TIMEOUT_S
        lives_for = self._random.randrange(len(batch)) if self._random.random() < self._deaths else len(batch)
        slowest_s, left = 0.0, list(batch)
        while left and self._env.now + 2 * slowest_s <= killed_at - _MARGIN_S:
            began, step = self._env.now, self._find_step(left)
            if len(batch) - len(left) >= lives_for:
                self.killed += 1
                return None
            yield from self._import_step([each for each in step if not _is_done(each)])
            # Of several chunks, only the last would be too late; another invocation would do it as soon.
            if self._env.now > killed_at and len(step) == 1:
                self.killed += 1
                return None
            self._count(step)
            slowest_s = max(slowest_s, (self._env.now - began) / len(step))
            left = left[len(step) :]
        return left

    def _find_step(self, left: Sequence[Message]) -> Sequence[Message]:
        """Return the next chunks of one import, if they are a short step together, otherwise the next chunk."""
        made = left[0].body[0]
        same = list(takewhile(lambda message: message.body[0] is made, left))
        alone_s = len(same) * (CHUNK_ROWS * self._costs.row_s + self._costs.chunk_s)
        return same if alone_s <= _STEP_S * self._processors.rate and not self._deaths else same[:1]

    def _import_step(self, step: Sequence[Message]) -> Generator[Event, Any, None]:
        if not step:
            return
        made: Import = step[0].body[0]
        seconds = sum(map(_count_rows, step)) * self._costs.row_s + len(step) * self._costs.chunk_s
        yield self._processors.serve(seconds, self._costs.chunk_processors)
        waits_s = max(0.0, made.row_free_at - self._env.now)
        made.row_free_at = self._env.now + waits_s + len(step) * self._costs.import_row_s
        if waits_s:
            yield self._env.timeout(waits_s)

    def _count(self, step: Sequence[Message]) -> None:
        """Account for chunks; those that were imported before are acknowledged alone."""
        for message in step:
            made, number = message.body
            if not _is_done(message):
                made.done.add(number)
                made.rows += _count_rows(message)
                if len(made.done) == made.chunk_count:
                    self.completions.send([Message(made, made.upload.tenant)])

    def _complete(self, batch: list[Message]) -> Generator[Event, Any, list[Message]]:
        yield self._processors.serve(self._costs.complete_s, self._costs.complete_processors)
        batch[0].body.ended_at = self._env.now
        self.open -= 1
        if self._costs.after_s:
            self._processors.serve(self._costs.after_s, 1.0)
        return []


def _is_done(message: Message) -> bool:
    made, number = message.body
    return number in made.done


def _count_rows(message: Message) -> int:
    made, number = message.body
    return min(CHUNK_ROWS, int(made.upload.rows) - int(number) * CHUNK_ROWS)
