"""Whether every overlay did what its rows say, once, and every edit beside it survived.

The truth is the model of the rows and what callers were answered; nothing of the application is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger, Overlaying
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.fold import CUSTODIAN, FIELD, ROW_HASH, TAG, Key, Value
from tests.torture.models.history import Course, Replay
from tests.torture.models.overlay_rows import BATES, Outcome, Report, judge_file
from tests.torture.models.stored_documents import Entry, Stored, read_case
from tests.torture.oracles.imports import ENDS
from tests.torture.oracles.undos import judge_undos

COUNTS = ("rows_seen", "imported", "updated", "unchanged", "rejected")
_FIELDS = {"title": "title", "fileName": "file_name"}
_LINKING = {"tagged": (TAG, True), "untagged": (TAG, False), "custodians_added": (CUSTODIAN, True)}


def judge_overlays(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """Everything that came of the files, of their undos and of the requests beside them."""
    if len(ledger.overlays) < 2 or not ledger.edits or not ledger.linkings:
        yield Finding(UNFINISHED, f"{len(ledger.overlays)} overlays, {len(ledger.edits)} edits beside them")
    course, stored = plot(ledger, _list_interrupted(ledger, at)), read_case(ledger.tenant, at)
    # Their history is gone with them: it is that of before the undo, to which no editor can have added anything.
    removed = {
        exhibit: each for undo in ledger.undos for exhibit, each in undo.before.items() if exhibit not in undo.after
    }
    replays = {exhibit: Replay(each, course) for exhibit, each in (removed | stored).items()}
    for replay in replays.values():
        yield from replay.run()
    for noted in ledger.overlays:
        outcome = course.outcomes[noted.import_id]
        yield from _judge_import(ledger, noted, outcome, at, replays)
        yield from _judge_rows(noted, outcome, replays)
    yield from judge_undos(ledger, course, replays, at)
    yield from _judge_requests(ledger, stored)


def _list_interrupted(ledger: Ledger, at: Queried) -> set[int]:
    """Return the imports whose split had a checkpoint: their keys are the first numbers of documents alone."""
    rows = at.query("SELECT id FROM imports WHERE tenant_id = :t AND split_checkpoint IS NOT NULL", t=ledger.tenant)
    return {row.id for row in rows}


def plot(ledger: Ledger, interrupted: Collection[int] = ()) -> Course:
    """Return what the steps do by the models, in their order."""
    course, undone = Course(), set[int]()
    for step in ledger.steps:
        if isinstance(step, Overlaying):
            keys = {each.id: (each.control_number, each.values[BATES]) for each in step.before.values()}
            numbers = {} if step.import_id in interrupted else {each.id: each.numbers for each in step.before.values()}
            course.outcomes[step.import_id] = judge_file(step.plan, keys, numbers)
        else:
            course.undone[step.import_id, step.undo_no] = frozenset({*undone, step.import_id})
            undone |= set() if step.is_dry_run else {step.import_id}
    return course


def _judge_import(
    ledger: Ledger, noted: Overlaying, outcome: Outcome, at: Queried, replays: Mapping[int, Replay]
) -> Iterator[Finding]:
    """The import has ended, its numbers add up, and its rejections and warnings are those of the model."""
    place, import_id = f"overlay {noted.import_id}", noted.import_id
    row = at.query(f"SELECT status, {', '.join(COUNTS)} FROM imports WHERE id = :id", id=import_id)[0]
    undone = [each.result.get("status") for each in ledger.undos if each.import_id == import_id and not each.is_dry_run]
    if row.status not in (undone[-1:] or ({"cancelled"} if noted.is_partial else ENDS)):
        yield Finding(UNFINISHED, f"{place} is {row.status}, and its undos ended as {undone}")
    entries = sum(
        each.import_id == import_id and not each.undo_no for one in replays.values() for each in one.stored.entries
    )
    created = sum(each.stored.import_id == import_id for each in replays.values())
    expected = {"rows_seen": len(noted.plan.rows), "imported": created, "updated": entries}
    if not noted.is_partial:
        expected |= {"unchanged": len(outcome.targets) - entries, "rejected": len(outcome.rejected_lines)}
    counts = {name: int(getattr(row, name)) for name in expected}
    if expected != counts:
        yield Finding(MISPLACED, f"{place} has counted {counts}, expected was {expected}")
    for table, reports in (("import_rejections", outcome.rejected), ("import_warnings", outcome.warned)):
        rows = at.query(
            f"SELECT line_no, code, column_name FROM {table} WHERE import_id = :id AND line_no > 0 "
            "AND code <> 'NAME_MERGED'",
            id=import_id,
        )
        got = Counter(Report(*each) for each in rows)
        # Of a chunk that a cancellation has stopped there is nothing.
        expected_reports = Counter(reports) & got if noted.is_partial else Counter(reports)
        yield from compare(f"{place}: {table}", expected_reports, got)


def _judge_rows(noted: Overlaying, outcome: Outcome, replays: Mapping[int, Replay]) -> Iterator[Finding]:
    """Each row has created its document, or is one entry of its document, or changed nothing of it at some time."""
    place, import_id = f"overlay {noted.import_id}", noted.import_id
    made = {each.stored.line for each in replays.values() if each.stored.import_id == import_id}
    if made != outcome.created.keys() and not noted.is_partial:
        yield Finding(LOST, f"{place}: documents were created by the lines {made}, and not {outcome.created}")
    for line, exhibit in outcome.targets.items():
        if exhibit not in replays:
            yield Finding(LOST, f"{place}, line {line}: document {exhibit} is gone, and no undo has removed it")
            continue
        replay = replays[exhibit]
        mine = replay.stored.list_entries(import_id)
        first, last = (_find_version(each, replay.stored) for each in (noted.before, noted.after))
        yield from _judge_target(f"{place}, line {line}", mine, first, last)
        if not mine and not noted.is_partial and not replay.could_be_unchanged(line, outcome, first, last):
            yield Finding(LOST, f"{place}, line {line}: {replay.stored.name} was not changed, and never had the values")


def _find_version(case: Mapping[int, Stored], stored: Stored) -> int:
    return case[stored.id].version if stored.id in case else stored.version


def _judge_target(place: str, mine: list[Entry], first: int, last: int) -> Iterator[Finding]:
    if len(mine) > 1:
        yield Finding(DOUBLED, f"{place}: its document was overlaid {len(mine)} times")
    for each in mine:
        if not first < each.version <= last:
            yield Finding(MISPLACED, f"{place}: version {each.version} was made before or after it: {first} to {last}")


def _judge_requests(ledger: Ledger, documents: Mapping[int, Stored]) -> Iterator[Finding]:
    """Each request that was answered is an entry of each of its documents, with its values, and there is no other.

    A document that a request has changed is never removed.
    """
    entries = [
        (stored.id, each)
        for stored in documents.values()
        for each in stored.entries
        if each.action in ("edited", *_LINKING)
    ]
    edited = {(exhibit, each.version): _list_new(each) for exhibit, each in entries if each.action == "edited"}
    expected = {place: _describe(given) for place, given in ledger.edits.items()}
    yield from compare("edits", Counter(_freeze(expected)), Counter(_freeze(edited)))
    given = Counter(
        (exhibit, each.action, frozenset((_LINKING[each.action][0], name.lower()) for name in each.names))
        for each in ledger.linkings
        for exhibit in each.exhibits
    )
    linked = Counter(
        (exhibit, each.action, frozenset(each.changes)) for exhibit, each in entries if each.action in _LINKING
    )
    yield from compare("taggings and custodians", given, linked)
    for exhibit, each in entries:
        if each.action in _LINKING and {new for _, new in each.changes.values()} != {_LINKING[each.action][1]}:
            yield Finding(MISPLACED, f"exhibit {exhibit}: {each}")


def _list_new(entry: Entry) -> dict[Key, Value]:
    return {key: new for key, (_, new) in entry.changes.items()}


def _describe(given: Mapping[str, str]) -> dict[Key, Value]:
    """Return what the history of a request has: a date's text is longer, and it is a time as it was written."""
    found: dict[Key, Value] = {ROW_HASH: None}
    for name, value in given.items():
        if name == "dateSent":
            found |= {(FIELD, "date_sent"): f"{value.replace('T', ' ')}.000000", (FIELD, "date_sent_precision"): "T"}
        else:
            found[FIELD, _FIELDS[name]] = value
    return found


def _freeze(edits: Mapping[tuple[int, int], Mapping[Key, Value]]) -> Iterator[tuple[Any, ...]]:
    yield from ((*place, frozenset(values.items())) for place, values in edits.items())
