"""Whether every undo has left each document as it would be without the import, and kept what others had done since.

The truth is the model of the history's entries; nothing of the application is imported here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger, Undoing
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding
from tests.torture.models.fold import CUSTODIAN, ROW_HASH, TAG, Key
from tests.torture.models.history import Course, Replay
from tests.torture.models.stored_documents import Entry
from tests.torture.models.undo import TakenBack, count_links_made
from tests.torture.plans.overlays import OVERLAID_CASE

LONGEST_MESSAGE = 900
COUNTS = ("restored", "removed", "kept", "links_restored")
Kept = frozenset[tuple[str, Key | None]]


def judge_undos(ledger: Ledger, course: Course, replays: Mapping[int, Replay], at: Queried) -> Iterator[Finding]:
    """All undos of the seed, in their order, and the documents that they removed."""
    if not any(not each.is_dry_run for each in ledger.undos):
        yield Finding(UNFINISHED, "no import was undone")
    tombstones = _read_tombstones(ledger, at)
    for undo in ledger.undos:
        yield from _judge_undo(undo, course.undone[undo.import_id, undo.undo_no], replays, tombstones, at)
        yield from _judge_events(ledger, undo, at)
        yield from _judge_apart(undo, at)
    known = {(each.import_id, each.undo_no) for each in ledger.undos if not each.is_dry_run}
    for exhibit, stone in tombstones.items():
        if (stone.import_id, stone.undo_no) not in known:
            yield Finding(MISPLACED, f"exhibit {exhibit} was removed by undo {stone.undo_no} of {stone.import_id}")
    for missed in ledger.missed:
        if not tombstones.keys() & set(missed):
            yield Finding(LOST, f"exhibits {missed} were answered as not found, and none of them was removed")


def _read_tombstones(ledger: Ledger, at: Queried) -> dict[int, Any]:
    rows = at.query(
        "SELECT t.* FROM exhibit_tombstones AS t JOIN cases ON cases.id = case_id WHERE tenant_id = :tenant "
        "AND cases.name = :case",
        tenant=ledger.tenant,
        case=OVERLAID_CASE,
    )
    return {row.exhibit_id: row for row in rows}


@dataclass
class _Observed:
    """What an undo has written and kept, by the exhibits' ids, and whose rows it has removed."""

    kept: Mapping[int, Kept]
    written: dict[int, list[Entry]]
    removed: set[int]


def _judge_undo(
    undo: Undoing, undone: frozenset[int], replays: Mapping[int, Replay], tombstones: Mapping[int, Any], at: Queried
) -> Iterator[Finding]:
    """Each document of the import is as the model says, at one of its versions meanwhile, and the counts add up."""
    key = {"id": undo.import_id, "no": undo.undo_no}
    mine = {exhibit: each for exhibit, each in replays.items() if exhibit in undo.before}
    written = {exhibit: each.stored.list_entries(undo.import_id, undo.undo_no) for exhibit, each in mine.items()}
    stones = {exhibit for exhibit, each in tombstones.items() if (each.import_id, each.undo_no) == tuple(key.values())}
    seen = _Observed(_read_kept(at, key), written, stones)
    for replay in mine.values():
        yield from _judge_document(undo, undone, replay, seen)
    row = at.query(
        f"SELECT status, dry_run, parts_left, report_written, {', '.join(COUNTS)} FROM import_undos "
        "WHERE import_id = :id AND undo_no = :no",
        **key,
    )[0]
    counts = {name: int(getattr(row, name)) for name in COUNTS}
    if undo.is_dry_run:
        yield from _judge_dry_run(undo, undone, mine.values(), seen, counts)
    else:
        entries = [entry for each in written.values() for entry in each]
        expected = (
            len(list(filter(_restores, entries))),
            len(seen.removed),
            len(seen.kept),
            sum(map(count_links_made, entries)),
        )
        if tuple(counts.values()) != expected:
            yield Finding(MISPLACED, f"{undo.name} has counted {counts}, expected was {expected}")
    if row.status != ("undone_with_conflicts" if seen.kept else "undone") or row.parts_left or not row.report_written:
        yield Finding(
            UNFINISHED, f"{undo.name} is {row.status}, with {row.parts_left} parts left, and kept {seen.kept}"
        )


def _restores(taken: Entry | TakenBack) -> bool:
    """Return whether a value or link comes back, and not the row hash alone."""
    return bool(taken.changes.keys() - {ROW_HASH})


def _judge_document(undo: Undoing, undone: frozenset[int], replay: Replay, seen: _Observed) -> Iterator[Finding]:
    """A document was undone once, as of the version before that, or nothing of it was, as of a version meanwhile."""
    stored, window = replay.stored, _find_window(undo, replay)
    mine, kept = seen.written[stored.id], seen.kept.get(stored.id, frozenset())
    if len(mine) > 1:
        yield Finding(DOUBLED, f"{undo.name}: {stored.name} was undone {len(mine)} times")
    if any(each.version - 1 not in window for each in mine):
        yield Finding(MISPLACED, f"{undo.name}: {stored.name} was changed before or after it")
    expected = [
        replay.take_back(undo.import_id, undone, version) for version in ([mine[0].version - 1] if mine else window)
    ]
    changes, is_created = dict(mine[0].changes) if mine else {}, stored.import_id == undo.import_id
    is_gone = stored.id in seen.removed
    if undo.is_dry_run:
        expected = [replace(each, changes={}) for each in expected]
        is_gone = is_created and not kept
    if not any(_is_as(each, changes, kept, is_gone=is_gone, is_created=is_created) for each in expected):
        model = f"by the model {expected[-1]}"
        yield Finding(LOST, f"{undo.name}: {stored.name}: {kept}, removed: {is_gone}; {model}"[:LONGEST_MESSAGE])


def _find_window(undo: Undoing, replay: Replay) -> range:
    """Return the versions that the document had meanwhile, as far as an undo could see them."""
    first, after = undo.before[replay.stored.id].version, undo.after.get(replay.stored.id, replay.stored)
    return range(first, after.version + 1)


def _judge_dry_run(
    undo: Undoing, undone: frozenset[int], replays: Iterable[Replay], seen: _Observed, counts: Mapping[str, int]
) -> Iterator[Finding]:
    """It has written nothing, and counted what an undo would have restored and removed at some time meanwhile."""
    if any(seen.written.values()) or seen.removed:
        yield Finding(MISPLACED, f"{undo.name}, a dry run, has written {seen.written} and removed {seen.removed}")
    least, most = Counter[str](), Counter[str]()
    for replay in replays:
        is_created = replay.stored.import_id == undo.import_id
        models = [replay.take_back(undo.import_id, undone, version) for version in _find_window(undo, replay)]
        for name, are in (
            ("restored", [_restores(each) for each in models]),
            ("removed", [is_created and not each.kept for each in models]),
        ):
            least[name] += all(are)
            most[name] += any(are)
    if not all(least[name] <= counts[name] <= most[name] for name in most):
        yield Finding(MISPLACED, f"{undo.name}, a dry run, has counted {counts}, of at least {least}, at most {most}")


def _is_as(model: TakenBack, changes: dict[Key, Any], kept: Kept, *, is_gone: bool, is_created: bool) -> bool:
    return (model.changes, model.kept, is_created and not model.kept) == (changes, kept, is_gone)


def _read_kept(at: Queried, key: Mapping[str, int]) -> dict[int, Kept]:
    rows = at.query(
        "SELECT exhibit_id, code, kind, name FROM import_undo_kept WHERE import_id = :id AND undo_no = :no", **key
    )
    found: dict[int, set[tuple[str, Key | None]]] = {}
    for row in rows:
        name = row.name and (row.name.lower() if row.kind in (CUSTODIAN, TAG) else row.name)
        found.setdefault(row.exhibit_id, set()).add((row.code, (row.kind, name) if row.kind else None))
    return {exhibit: frozenset(each) for exhibit, each in found.items()}


def _judge_events(ledger: Ledger, undo: Undoing, at: Queried) -> Iterator[Finding]:
    """The end of an undo was published once in each of its generations."""
    rows = at.query(
        "SELECT payload FROM outbox_events WHERE id > :after AND aggregate_id = :id AND event_type = 'import.undone'",
        after=ledger.after_event,
        id=str(undo.import_id),
    )
    events = Counter(json.loads(row.payload)["undoNo"] for row in rows)[undo.undo_no]
    generation = at.query(
        "SELECT generation FROM import_undos WHERE import_id = :id AND undo_no = :no",
        id=undo.import_id,
        no=undo.undo_no,
    )[0][0]
    if not 1 <= events <= generation:
        kind = DOUBLED if events else LOST
        yield Finding(kind, f"{undo.name} ended {events} times, of {generation}")


def _judge_apart(undo: Undoing, at: Queried) -> Iterator[Finding]:
    """While an import was being undone no other undo of it was, and no chunk of another import of its case.

    All times are the database's. Between an undo that failed and its retry others may run.
    """
    place = {"id": undo.import_id, "no": undo.undo_no}
    chunks = at.query(
        "SELECT c.import_id, c.chunk_no FROM import_undos AS u JOIN imports AS this ON this.id = u.import_id "
        "JOIN imports AS other ON other.case_id = this.case_id AND other.id <> this.id "
        "JOIN import_chunks AS c ON c.import_id = other.id AND c.status = 'done' "
        "AND c.finished_at BETWEEN u.created_at AND u.finished_at "
        "WHERE u.import_id = :id AND u.undo_no = :no AND u.dry_run = 0 AND u.generation = 1",
        **place,
    )
    if chunks:
        yield Finding(MISPLACED, f"chunks {[tuple(row) for row in chunks]} were imported during {undo.name}")
    others = at.query(
        "SELECT other.undo_no FROM import_undos AS u JOIN import_undos AS other ON other.import_id = u.import_id "
        "WHERE u.import_id = :id AND u.undo_no = :no AND u.dry_run = 0 AND other.dry_run = 0 "
        "AND other.undo_no < u.undo_no AND other.finished_at > u.created_at",
        **place,
    )
    if others:
        yield Finding(DOUBLED, f"undos {[row.undo_no for row in others]} had not ended before {undo.name} began")
