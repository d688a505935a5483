"""What was done to a case with volumes, step by step, by the models and by the histories of its documents.

Each run must have given each of its documents the pages of its line, once, and each undo must have taken back what the
models say; what a writer decided from an earlier state shows as pages that were not there any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.torture.findings import DOUBLED, LOST, MISPLACED, Finding
from tests.torture.models.fold import PAGES
from tests.torture.models.stored_documents import Entry, Stored
from tests.torture.models.stored_volumes import VolumeCourse, VolumeRun, VolumeUndo
from tests.torture.models.undo import find_reason_to_stay, take_back
from tests.torture.models.volume_files import ImagesOutcome, RowsOutcome, judge_images, judge_rows
from tests.torture.plans.volumes import ROWS, Document, VolumePlan


@dataclass
class Living:
    """A document that the case has at a step, and how many entries of its history the steps so far explain."""

    stored: Stored
    explained: int = 0

    @property
    def entries(self) -> list[Entry]:
        """The entries that are explained."""
        return self.stored.entries[: self.explained]

    @property
    def pages(self) -> str | None:
        """The page set that they leave."""
        value = self.entries[-1].changes[PAGES][1] if self.entries else None
        return None if value is None else str(value)

    def find_source(self) -> tuple[int, int] | None:
        """Return the import and the line that the pages are of."""
        made = [each for each in self.entries if not each.undo_no and each.changes[PAGES][1] == self.pages]
        return (made[0].import_id or 0, made[0].line or 0) if made and self.pages else None


@dataclass
class RunOutcome:
    """What a run does by the models: `given` are its lines whose pages documents got.

    `compared` are the images against the rows that the case would have, as a check counts them at its end.
    """

    run: VolumeRun
    rows: RowsOutcome
    images: ImagesOutcome
    compared: ImagesOutcome
    given: set[int] = field(default_factory=set)
    unchanged: set[int] = field(default_factory=set)


@dataclass
class UndoOutcome:
    """What an undo does by the models: how many documents it restores and removes, and what it keeps, by line."""

    undo: VolumeUndo
    restored: int = 0
    removed: int = 0
    kept: list[tuple[str, str]] = field(default_factory=list)


class CaseReplay:
    """Takes the steps; afterwards `living` are the documents that the case must have, by control number."""

    def __init__(self, course: VolumeCourse, stored: Mapping[int, Stored]) -> None:
        self._course = course
        # Of a document that an undo has removed there is what was read before it.
        known = [each for undo in course.undos for each in undo.before.values()] + list(stored.values())
        self._known = {(each.import_id, each.line): each for each in known}
        self._of_imports = {import_id: run for run in course.runs for import_id in run.imports.values()}
        self.living: dict[str, Living] = {}
        self.undone: set[int] = set()
        self.runs: list[RunOutcome] = []
        self.undos: list[UndoOutcome] = []

    def run(self) -> Iterator[Finding]:
        """Take all steps, and say what does not follow from them."""
        for step in self._course.steps:
            yield from self._undo(step) if isinstance(step, VolumeUndo) else self._import(step)
        for living in self.living.values():
            if left := living.stored.entries[living.explained :]:
                yield Finding(DOUBLED, f"{living.stored.name} has changes that nothing has made: {left[:3]}")

    def _import(self, runs: list[VolumeRun]) -> Iterator[Finding]:
        """Create documents, and give pages; runs that went on at once have given theirs in either order."""
        expected: dict[str, dict[tuple[int, int], RunOutcome]] = {}
        for run in runs:
            plan = run.sent.plan
            rows = judge_rows(plan, self.living)
            after = {*self.living, *rows.created.values()}
            images = judge_images(plan, None if run.is_check else after)
            outcome = RunOutcome(run, rows, images, judge_images(plan, after))
            self.runs.append(outcome)
            if not run.is_check:
                yield from self._create(run, rows)
                self._decide(outcome)
                for line in outcome.given:
                    number = outcome.images.targets[line].key
                    expected.setdefault(number, {})[run.images, line] = outcome
        for number, places in expected.items():
            if number in self.living:
                yield from _explain(self.living[number], set(places))

    def _create(self, run: VolumeRun, rows: RowsOutcome) -> Iterator[Finding]:
        for line, number in rows.created.items():
            stored = self._known.get((run.imports[ROWS], line))
            if stored is None or stored.control_number != number:
                yield Finding(LOST, f"line {line} of import {run.imports[ROWS]} has not created {number}: {stored}")
            else:
                self.living[number] = Living(stored)

    def _decide(self, outcome: RunOutcome) -> None:
        """An import that appends leaves equal pages, and rejects documents that have others."""
        plan = outcome.run.sent.plan
        for line, document in list(outcome.images.targets.items()):
            living = self.living.get(document.key)
            source = living.find_source() if living else None
            if source is None or plan.mode == "overlay":
                outcome.given.add(line)
            elif self._is_equal(source, outcome.run, document):
                outcome.unchanged.add(line)
            else:
                outcome.images.reject(plan, line, "HAS_PAGES")

    def _is_equal(self, source: tuple[int, int], run: VolumeRun, document: Document) -> bool:
        """Return whether pages are those that a line of an earlier import of the same volume has given."""
        earlier = self._of_imports.get(source[0])
        return earlier is not None and earlier.sent is run.sent and find_document(run.sent.plan, source[1]) == document

    def _undo(self, undo: VolumeUndo) -> Iterator[Finding]:
        self.undone.add(undo.import_id)
        outcome = UndoOutcome(undo)
        self.undos.append(outcome)
        for number, living in list(self.living.items()):
            if living.stored.import_id == undo.import_id:
                reason = find_reason_to_stay(living.entries, self.undone)
                if reason:
                    outcome.kept.append((number, reason))
                else:
                    outcome.removed += 1
                    del self.living[number]
            elif any(each.import_id == undo.import_id for each in living.entries):
                yield from self._take_back(outcome, living)

    def _take_back(self, outcome: UndoOutcome, living: Living) -> Iterator[Finding]:
        undo = outcome.undo
        expected = take_back({PAGES: None}, living.entries, undo.import_id, self.undone)
        outcome.kept += [(living.stored.control_number, code) for code, _ in expected.kept]
        if not expected.changes:
            return
        outcome.restored += 1
        entry = next(iter(living.stored.entries[living.explained :]), None)
        if entry is None or (entry.import_id, entry.undo_no) != (undo.import_id, undo.undo_no):
            yield Finding(LOST, f"undo of import {undo.import_id}: {living.stored.name} keeps its pages: {entry}")
            return
        living.explained += 1
        if entry.changes != expected.changes:
            yield Finding(MISPLACED, f"undo of import {undo.import_id}: {living.stored.name}: {entry}, not {expected}")


def _explain(living: Living, places: set[tuple[int, int]]) -> Iterator[Finding]:
    """Each of the lines has given its pages once; each change begins with the pages that the one before it left."""
    entries = living.stored.entries[living.explained : living.explained + len(places)]
    found = Counter((each.import_id or 0, each.line or 0) for each in entries)
    if missing := Counter(places) - found:
        yield Finding(LOST, f"{living.stored.name} has no pages of {sorted(missing)}, but {entries}")
    for each in entries:
        old, _ = each.changes.get(PAGES, (None, None))
        if old != living.pages:
            yield Finding(LOST, f"{living.stored.name}: {each} begins with other pages than {living.pages}")
        if set(each.changes) != {PAGES}:
            yield Finding(MISPLACED, f"{living.stored.name}: {each} changes more than its pages")
            return
        living.explained += 1


def find_document(plan: VolumePlan, line: int) -> Document | None:
    """Return the document that begins with a line of the image load file."""
    first = 1
    for document in plan.documents:
        if first == line:
            return document
        first += plan.count_lines(document)
    return None
