"""Whether each import of a volume gave each document its files and pages once, and each undo took them back.

The truth is the model of the load files that were sent; nothing of the application is imported here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.fold import PAGES
from tests.torture.models.overlay_rows import Report
from tests.torture.models.stored_documents import Stored, read_case
from tests.torture.models.stored_volumes import VolumeCourse, VolumeRun
from tests.torture.models.volume_files import StoredPage, count_missing_pages, count_unreferenced, list_pages
from tests.torture.models.volume_history import CaseReplay, RunOutcome, UndoOutcome, find_document
from tests.torture.oracles.imports import ENDS
from tests.torture.oracles.volume_files import judge_files
from tests.torture.plans.volumes import IMAGES, ROWS, VOLUME_CASES

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

COUNTS = ("rows_seen", "imported", "unchanged", "updated", "rejected")
UNDO_COUNTS = ("restored", "removed", "kept")
_PAGES = (
    "SELECT s.id, s.import_id, s.line_no, s.page_count, p.page_no, p.image_key, f.path AS file, p.path, "
    "p.page_in_file, p.rotation FROM page_sets AS s JOIN cases ON cases.id = s.case_id "
    "LEFT JOIN pages AS p ON p.page_set_id = s.id LEFT JOIN volume_files AS f ON f.id = p.file_id "
    "WHERE tenant_id = :tenant AND cases.name = :case ORDER BY s.id, p.page_no"
)
_ORPHANS = "SELECT COUNT(*) FROM pages WHERE NOT EXISTS (SELECT 1 FROM page_sets WHERE page_sets.id = page_set_id)"
_LINKS = (
    "SELECT l.exhibit_id, l.line_no, l.kind, f.path, l.rule FROM exhibit_files AS l "
    "LEFT JOIN volume_files AS f ON f.id = l.file_id WHERE l.import_id = :id"
)
_UNREFERENCED = "SELECT counts FROM import_chunk_files WHERE import_id = :id AND chunk_no = 0"


def judge_volumes(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """Everything that came of the volumes, their imports and the undos of these."""
    if {case for case, course in ledger.volumes.items() if course.steps} != set(VOLUME_CASES):
        yield Finding(UNFINISHED, "not every case has a volume that was imported")
    if orphans := at.query(_ORPHANS)[0][0]:
        yield Finding(MISPLACED, f"{orphans} pages belong to no page set")
    yield from judge_files(ledger, at, s3, bucket)
    for case, course in ledger.volumes.items():
        stored = read_case(ledger.tenant, at, case)
        replay = CaseReplay(course, stored)
        yield from replay.run()
        yield from _judge_documents(case, replay, stored)
        yield from _judge_pages(course, replay, at.query(_PAGES, tenant=ledger.tenant, case=case))
        for outcome in replay.runs:
            for kind in outcome.run.imports:
                yield from _judge_import(course, outcome, kind, at)
            yield from _judge_answers(outcome)
            yield from _judge_links(outcome, replay, at)
        yield from _judge_unreferenced(course, replay, at)
        for undo in replay.undos:
            yield from _judge_undo(undo, at)


def _judge_documents(case: str, replay: CaseReplay, stored: Mapping[int, Stored]) -> Iterator[Finding]:
    """The case has the documents that the steps leave, each with the pages that its history leaves."""
    expected = Counter(living.stored.id for living in replay.living.values())
    yield from compare(f"documents of {case}", expected, Counter(list(stored)))
    for number, living in replay.living.items():
        pages = living.stored.values[PAGES]
        if (None if pages is None else str(pages)) != living.pages:
            yield Finding(LOST, f"document {number} has page set {pages}, and {living.pages} by its history")


def _judge_pages(course: VolumeCourse, replay: CaseReplay, rows: Any) -> Iterator[Finding]:
    """Every page set that a history names has the pages of its line, in their order, and there is no other.

    Those of an undone import are gone, unless the document has them.
    """
    sources: dict[int, tuple[int, int]] = {}
    for living in replay.living.values():
        for entry in living.entries:
            page_set = entry.changes[PAGES][1]
            is_gone = entry.import_id in replay.undone and str(page_set) != living.pages
            if not entry.undo_no and page_set and not is_gone:
                sources[int(page_set)] = (entry.import_id or 0, entry.line or 0)
    got = {row.id: (row.import_id, row.line_no) for row in rows}
    yield from compare("page sets", Counter(sources.items()), Counter(got.items()))
    runs = {run.images: run for run in course.runs}
    for page_set, (import_id, line) in got.items():
        mine = [row for row in rows if row.id == page_set and row.page_no is not None]
        pages = [StoredPage(row.image_key, row.file, row.path, row.page_in_file) for row in mine]
        document = find_document(runs[import_id].sent.plan, line) if import_id in runs else None
        if document is None:
            continue
        sent = runs[import_id].sent
        expected = list_pages(sent.plan, document, is_deleted=sent.is_deleted)
        place = f"page set {page_set} of line {line} of import {import_id}"
        if pages != expected:
            kind = LOST if len(pages) < len(expected) else MISPLACED
            yield Finding(kind, f"{place} has the pages {pages}, not {expected}")
        numbers = [(row.page_no, row.rotation, row.page_count) for row in mine]
        if numbers != [(number, 0, len(expected)) for number in range(1, len(expected) + 1)]:
            yield Finding(MISPLACED, f"{place} has page numbers, rotations and counts {numbers}")


def _judge_import(course: VolumeCourse, outcome: RunOutcome, kind: str, at: Queried) -> Iterator[Finding]:
    """The import has ended; its counts, rejections and warnings are those of the model, and a check has none."""
    run, import_id = outcome.run, outcome.run.imports[kind]
    place = f"import {import_id} of the {kind} of volume {run.sent.volume_id}"
    row = at.query(f"SELECT status, {', '.join(COUNTS)} FROM imports WHERE id = :id", id=import_id)[0]
    undone = [each.result.get("status") for each in course.undos if each.import_id == import_id]
    if row.status not in (undone[-1:] or ({"checked"} if run.is_check else ENDS)):
        yield Finding(UNFINISHED, f"{place} is {row.status}, and its undos ended as {undone}")
    rejected = outcome.rows.rejected if kind == ROWS else outcome.images.rejected
    warned = outcome.rows.warned if kind == ROWS else _list_warned(outcome)
    for table, reports in (("import_rejections", rejected), ("import_warnings", warned)):
        rows = at.query(f"SELECT line_no, code FROM {table} WHERE import_id = :id AND line_no > 0", id=import_id)
        expected = Counter[Report]() if run.is_check else Counter(reports)
        yield from compare(f"{place}: {table}", expected, Counter(Report(*each) for each in rows))
    if not run.is_check:
        counts = dict(zip(COUNTS, map(int, row[1:]), strict=True))
        if kind == IMAGES and run.sent.plan.mode == "overlay":
            # Of two that went on at once either one may have come first.
            counts["imported"], counts["updated"] = counts["imported"] + counts["updated"], 0
        if counts != _count(outcome, kind):
            yield Finding(MISPLACED, f"{place} has counted {counts}, expected was {_count(outcome, kind)}")


def _list_warned(outcome: RunOutcome) -> list[Report]:
    return [each for line in outcome.images.targets for each in outcome.images.warned[line]]


def _count(outcome: RunOutcome, kind: str) -> dict[str, int]:
    plan, rows = outcome.run.sent.plan, outcome.rows
    if kind == ROWS:
        counts = (len(plan.rows), len(rows.created), len(rows.unchanged), 0, len({each.line for each in rows.rejected}))
    else:
        images = outcome.images
        counts = (len(plan.documents), len(outcome.given), len(outcome.unchanged), 0, len(images.rejected))
    return dict(zip(COUNTS, counts, strict=True))


def _judge_answers(outcome: RunOutcome) -> Iterator[Finding]:
    """The figures of files and pages that callers were answered, and those of a check."""
    run, rows, images = outcome.run, outcome.rows, outcome.images
    if run.is_check:
        # It ends with the documents that an import would refuse taken out.
        images = outcome.compared
    plan, targets = run.sent.plan, images.targets
    given = targets.keys() if run.is_check else outcome.given
    expected: dict[str, dict[str, int]] = {
        ROWS: {f"{kind}s{end}": rows.figures[f"{kind}s_{end.lower()}"] for kind in ("native", "text") for end in _ENDS},
        IMAGES: {
            "linesSeen": images.lines,
            "imported": sum(len(targets[line].pages) for line in given),
            "rejected": images.lines_rejected,
            "documents": len(targets),
            "missingImages": count_missing_pages(plan, images),
        },
    }
    checked = {
        ROWS: (len(rows.created), len({each.line for each in rows.rejected})),
        IMAGES: (len(outcome.compared.targets), len(outcome.compared.rejected)),
    }
    for kind, import_id in run.imports.items():
        answer = run.answers.get(kind, {})
        figures = answer.get("files" if kind == ROWS else "pages") or {}
        got = {name: figures.get(name) for name in expected[kind]}
        if got != expected[kind]:
            yield Finding(MISPLACED, f"import {import_id} was answered with {got}, expected was {expected[kind]}")
        check = answer.get("check") or {}
        if run.is_check and (check.get("wouldImport"), check.get("wouldReject")) != checked[kind]:
            yield Finding(MISPLACED, f"the check of import {import_id} said {check}, expected was {checked[kind]}")


_ENDS = ("Linked", "Missing")


def _judge_links(outcome: RunOutcome, replay: CaseReplay, at: Queried) -> Iterator[Finding]:
    """The documents that the rows created are linked to their files, or none; of an undone import, those left."""
    import_id = outcome.run.imports.get(ROWS)
    if import_id is None:
        return
    expected = Counter(
        (living.stored.id, living.stored.line, *link)
        for living in replay.living.values()
        if living.stored.import_id == import_id
        for link in (*outcome.rows.links[living.stored.line], *outcome.rows.missing[living.stored.line])
    )
    got = Counter(tuple(row) for row in at.query(_LINKS, id=import_id))
    yield from compare(f"links of import {import_id}", expected, got)


def _judge_unreferenced(course: VolumeCourse, replay: CaseReplay, at: Queried) -> Iterator[Finding]:
    """The last import of each volume has counted the files that nothing names; earlier ones may have been too early."""
    last: dict[int, RunOutcome] = {each.run.sent.volume_id: each for each in replay.runs if not each.run.is_check}
    for outcome in last.values():
        run: VolumeRun = outcome.run
        expected = count_unreferenced(run.sent.plan, run.imports, outcome.rows, outcome.images)
        rows = at.query(_UNREFERENCED, id=run.images)
        got = json.loads(rows[0].counts).get("unreferenced") if rows else None
        if got != expected:
            kind = LOST if got is None else MISPLACED
            yield Finding(kind, f"import {run.images} has counted {got} files that nothing names, of {expected}")


def _judge_undo(outcome: UndoOutcome, at: Queried) -> Iterator[Finding]:
    """The undo has ended, and counted what the model says."""
    undo = outcome.undo
    key, place = {"id": undo.import_id, "no": undo.undo_no}, f"undo {undo.undo_no} of import {undo.import_id}"
    where = "WHERE import_id = :id AND undo_no = :no"
    rows = at.query(f"SELECT status, parts_left, {', '.join(UNDO_COUNTS)} FROM import_undos {where}", **key)
    if not rows:
        yield Finding(LOST, f"{place} was answered, and is not there")
        return
    row = rows[0]
    if row.status != ("undone_with_conflicts" if outcome.kept else "undone") or row.parts_left:
        yield Finding(UNFINISHED, f"{place} is {row.status}, with {row.parts_left} parts left; kept is {outcome.kept}")
    expected = (outcome.restored, outcome.removed, len(outcome.kept))
    if tuple(map(int, row[2:])) != expected:
        yield Finding(MISPLACED, f"{place} has counted {tuple(row[2:])}, expected was {expected}")
    kept = at.query(f"SELECT control_number, code FROM import_undo_kept {where}", **key)
    yield from compare(f"kept by {place}", Counter(outcome.kept), Counter(tuple(each) for each in kept))
