"""What requests to correct and discard rejected rows come to, as docs/api.md says it: line by line.

Nothing of the application is imported here. A line is open unless the case has a row of it, or it is discarded; a
request is refused as a whole if one of its lines is not open, or is being corrected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.torture.findings import DOUBLED, LOST, MISPLACED, Finding
from tests.torture.plans.corrections import CorrectedRow, CorrectionCasePlan, CorrectionRequest

# Who has a line that is discarded.
DISCARDED = 0


class Taken(NamedTuple):
    """A request that was accepted, with the import of its rows, if it has any."""

    import_id: int | None
    request: CorrectionRequest


class Refused(NamedTuple):
    """A request that was refused."""

    request: CorrectionRequest


class Ended(NamedTuple):
    """The import of corrected rows has ended, or was cancelled; `has_run` says whether it had processed its rows."""

    import_id: int
    has_run: bool


class Retried(NamedTuple):
    """A retry of an import of corrected rows that was cancelled, and whether it was accepted."""

    import_id: int
    is_accepted: bool


class Undone(NamedTuple):
    """An import of corrected rows was undone."""

    import_id: int


class Looked(NamedTuple):
    """What the API answered while nothing ran: the number of open rows, and their lines as they are listed.

    The rows of an import that `is_undone` are listed, and do not count.
    """

    open_count: int
    lines: list[int]
    is_undone: bool = False


Event = Taken | Refused | Ended | Retried | Undone | Looked


@dataclass
class CorrectionCourse:
    """All that was done about the rejected rows of a file, in its order; and whether the file was undone."""

    plan: CorrectionCasePlan
    import_id: int = 0
    events: list[Event] = field(default_factory=list)
    is_undone: bool = False
    volume_id: int = 0

    @property
    def requests(self) -> dict[int, CorrectionRequest]:
        """The rows of each import that corrects some."""
        taken = (each for each in self.events if isinstance(each, Taken))
        return {each.import_id: each.request for each in taken if each.import_id is not None}

    @property
    def imports(self) -> set[int]:
        """The import of the file, and those of corrected rows."""
        return {self.import_id, *self.requests} - {0}


class Fold:
    """The events of a course folded: who has each line, and who has requested it last; `run` says what cannot be."""

    def __init__(self, course: CorrectionCourse) -> None:
        self._course, self._place = course, f"import {course.import_id}"
        self.winners: dict[int, set[int]] = {line: set() for line in course.plan.lines}
        self.holders: dict[int, int] = {}
        self.has_run: set[int] = set()
        self.undone: set[int] = set()
        self._pending: set[int] = set()

    def run(self) -> Iterator[Finding]:
        """Fold all events."""
        for event in self._course.events:
            yield from self._fold(event)
        for line, winners in self.winners.items():
            if len(winners) > 1:
                yield Finding(DOUBLED, f"line {line} of {self._place} was taken by {sorted(winners)}")

    def list_open(self) -> list[int]:
        """Return the lines that are open."""
        return [line for line, winners in self.winners.items() if not winners]

    def list_documents(self) -> Iterator[tuple[int, int, CorrectedRow]]:
        """Yield the import, line and row of each document that corrections have created."""
        for import_id, request in self._course.requests.items():
            for number, row in enumerate(request.rows, start=1):
                if import_id in self.winners[row.line] and not row.is_there:
                    yield import_id, number, row

    def _fold(self, event: Event) -> Iterator[Finding]:
        match event:
            case Taken(import_id, request):
                self._take(import_id, request)
            case Refused(request):
                yield from self._judge_refusal(request)
            case Ended(import_id, has_run):
                self._pending.discard(import_id)
                if has_run:
                    self._accept(import_id)
            case Retried(import_id, is_accepted):
                yield from self._judge_retry(import_id, is_accepted=is_accepted)
            case Undone(import_id):
                self._take_back(import_id)
            case Looked():
                yield from self._judge_open(event)

    def _take(self, import_id: int | None, request: CorrectionRequest) -> None:
        self.holders |= dict.fromkeys((row.line for row in request.rows), import_id or DISCARDED)
        self.holders |= dict.fromkeys(request.discarded, DISCARDED)
        self._pending |= {import_id} if import_id else set()
        for line in request.discarded:
            self.winners[line].add(DISCARDED)

    def _judge_refusal(self, request: CorrectionRequest) -> Iterator[Finding]:
        if not any(self.winners[line] or self.holders.get(line) in self._pending for line in request.lines):
            yield Finding(LOST, f"lines {sorted(request.lines)} of {self._place} are open, and were refused")

    def _judge_retry(self, import_id: int, *, is_accepted: bool) -> Iterator[Finding]:
        """A correction whose rows were not processed needs all of its lines."""
        rows = self._course.requests[import_id].rows
        is_free = import_id in self.has_run or all(self.holders.get(row.line) == import_id for row in rows)
        if is_accepted != is_free:
            kind = DOUBLED if is_accepted else LOST
            yield Finding(kind, f"a retry of import {import_id} was accepted: {is_accepted}, and should be: {is_free}")

    def _judge_open(self, seen: Looked) -> Iterator[Finding]:
        expected, (count, lines) = self.list_open(), seen[:2]
        if (count, lines) != (0 if seen.is_undone else len(expected), expected):
            yield Finding(MISPLACED, f"{self._place} has the open lines {lines}, {count} in all, not {expected}")

    def _accept(self, import_id: int) -> None:
        self.has_run.add(import_id)
        for row in self._course.requests[import_id].rows:
            if row.error is None and import_id not in self.undone:
                self.winners[row.line].add(import_id)

    def _take_back(self, import_id: int) -> None:
        self.undone.add(import_id)
        for winners in self.winners.values():
            winners.discard(import_id)
