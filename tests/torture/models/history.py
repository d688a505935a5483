"""The values that the history of each document leaves, entry after entry, compared with the models and what is stored.

Each entry must begin with the values that the one before it left; an overlay's must say what the model makes of its row
and of these values, and an undo's what the model makes of the entries before it. What a writer decided without them
shows as a value that was never there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.torture.findings import LOST, MISPLACED, Finding
from tests.torture.models.fold import FIELD, PROPERTY, ROW_HASH, Document, Key, Value, compare, default
from tests.torture.models.overlay_rows import Outcome, create, list_companions, list_stated, overlay
from tests.torture.models.stored_documents import Entry, Stored
from tests.torture.models.undo import TakenBack, apply, find_reason_to_stay, take_back


@dataclass
class Course:
    """What was done to the case: what each import does by the model, and which imports were undone at each undo.

    `undone` has them by the import and number of the undo; the import itself is among them.
    """

    outcomes: dict[int, Outcome] = field(default_factory=dict)
    undone: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)


class Replay:
    """The states of one document by version, as its history leaves them; `run` says what does not follow."""

    def __init__(self, stored: Stored, course: Course) -> None:
        self.stored, self._course = stored, course
        self.states: dict[int, Document] = {}

    def run(self) -> Iterator[Finding]:
        """Replay all entries, and compare what they leave with what is stored."""
        created = self._create()
        if created is None:
            yield Finding(
                MISPLACED, f"{self.stored.name} was created by line {self.stored.line}, which creates another"
            )
            return
        self.states[1] = state = created
        for entry in self.stored.entries:
            yield from self._judge(entry, state)
            self.states[entry.version] = state = apply(state, entry)
        different = compare(state, self.stored.values)
        if different:
            yield Finding(LOST, f"{self.stored.name}: by its history and as stored: {_tell(different)}")

    def _create(self) -> Document | None:
        """Return what the creating row made, with the hash that only the first change of it can tell."""
        outcome, line = self._course.outcomes.get(self.stored.import_id), self.stored.line
        if outcome is None or outcome.created.get(line) != self.stored.control_number:
            return None
        hashes = [each.changes[ROW_HASH][0] for each in self.stored.entries if ROW_HASH in each.changes]
        first = hashes[0] if hashes else self.stored.values[ROW_HASH]
        return {**create(outcome.plan.lines()[line]), ROW_HASH: first}

    def _judge(self, entry: Entry, before: Document) -> Iterator[Finding]:
        """Say what of an entry does not follow from the state before it."""
        place = f"{self.stored.name}: {entry.action} to version {entry.version} by {entry.import_id}/{entry.line}"
        wrong = {key: (before.get(key, default(key)), old) for key, (old, _) in entry.changes.items()}
        wrong = {key: pair for key, pair in wrong.items() if pair[0] != pair[1]}
        if wrong:
            yield Finding(LOST, f"{place} begins with other values than there were: {_tell(wrong)}")
        yield from self._judge_stated(place, entry, before)
        if entry.import_id is not None:
            expected = self._expect(entry, before)
            if expected is None:
                yield Finding(
                    MISPLACED, f"{place} by line {entry.line} of import {entry.import_id}, which is another's"
                )
            elif not expected or expected != entry.changes:
                keys = [
                    key for key in expected.keys() | entry.changes.keys() if expected.get(key) != entry.changes.get(key)
                ]
                differing = _tell({key: (expected.get(key), entry.changes.get(key)) for key in keys})
                yield Finding(
                    MISPLACED, f"{place} by import {entry.import_id}, by the model and the history: {differing}"
                )

    def _judge_stated(self, place: str, entry: Entry, before: Document) -> Iterator[Finding]:
        """An overlay names all that its row says besides what it changes; nothing else states anything."""
        outcome = self._course.outcomes.get(entry.import_id or 0)
        stated, whole = frozenset[Key](), frozenset[str]()
        if entry.undo_no is None and outcome is not None and entry.line in outcome.plan.lines():
            keys, parts = list_stated(before, outcome.plan.lines()[entry.line], outcome.plan)
            stated, whole = (
                frozenset(key for key in keys - entry.changes.keys() if key[0] not in parts),
                frozenset(parts),
            )
        if (stated, whole) != (entry.stated, entry.whole):
            differing = f"{sorted(stated ^ entry.stated)}, {sorted(whole ^ entry.whole)}"
            yield Finding(MISPLACED, f"{place} states other things than the model: {differing}"[:600])

    def _expect(self, entry: Entry, before: Document) -> dict[Key, tuple[Value, Value]] | None:
        """Return the changes by the models; None if the import has no such row, or was not undone."""
        import_id = entry.import_id or 0
        if entry.undo_no is not None:
            undone = self._course.undone.get((import_id, entry.undo_no))
            return None if undone is None else dict(self.take_back(import_id, undone, entry.version - 1).changes)
        outcome = self._course.outcomes.get(import_id)
        if outcome is None or outcome.targets.get(entry.line or 0) != self.stored.id:
            return None
        cells = outcome.plan.lines()[entry.line or 0]
        changes = compare(before, overlay(before, cells, outcome.plan))
        for key in list_companions(before, cells, outcome.plan, changes) - changes.keys():
            changes[key] = (before.get(key, default(key)), before.get(key, default(key)))
        if any(part in (FIELD, PROPERTY) for part, _ in changes):
            changes[ROW_HASH] = (before.get(ROW_HASH), None)
        return changes

    def take_back(self, import_id: int, undone: frozenset[int], version: int) -> TakenBack:
        """Return what an undo of the import does to the document at that version."""
        entries = [each for each in self.stored.entries if each.version <= version]
        if self.stored.import_id != import_id:
            return take_back(self.states[1], entries, import_id, undone)
        reason = find_reason_to_stay(entries, undone)
        return TakenBack(kept=frozenset({(reason, None)} if reason else ()))

    def could_be_unchanged(self, line: int, outcome: Outcome, first: int, last: int) -> bool:
        """Return whether there was a version, from the first to the last, that the row changes nothing of."""
        cells = outcome.plan.lines()[line]
        states = [state for version, state in self.states.items() if first <= version <= last]
        return any(not compare(state, overlay(state, cells, outcome.plan)) for state in states)


def _tell(pairs: Mapping[Key, tuple[object, object]]) -> str:
    described = (f"{part} {name}: {one!r:.60}, {other!r:.60}" for (part, name), (one, other) in sorted(pairs.items()))
    return "; ".join(described)
