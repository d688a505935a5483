"""Find and tag the next exhibits of a tagging job.

Exhibits are reached by the index on the imports that created them: narrower than the primary key, where the exhibits of
other cases lie between, and in about the order of their ids. A window is up to WINDOW matches among the next SCANNED
exhibits of one import.
Guaranteed: each exhibit is locked, in the order of ids, before it is decided whether it matches, and is tagged with its
history in that transaction. Not guaranteed: that an exhibit is reached whose row commits after its place was passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from core.exhibit_history import Action, Change, Changes, Key, Kind
from core.statuses import TaggingJobStatus
from shell.exhibits.history import Author, assert_links, record_changes
from shell.exhibits.leads import Link, has_link
from shell.exhibits.matches import find_conditions
from shell.tables.custodians_tags import Tags
from shell.tables.exhibits import Exhibits
from shell.tables.imports import Imports
from shell.tables.links import TaggingJobs, Taggings
from shell.tagging_jobs.state import JobRequest
from shell.taggings_ops import create_np_taggings, delete_taggings, find_taggings, lock_named_tags
from shell.utils.db_helpers import force_index, is_in
from shell.utils.named_rows import find_named

WINDOW, SCANNED = 1_000, 10_000


class Place(NamedTuple):
    """How far a job is: the import whose exhibits it reaches, and the last line that it has passed."""

    import_id: int
    line_no: int


class Window(NamedTuple):
    """Exhibits that matched when they were read, and the place after them; None if there are no more."""

    ids: list[int]
    place: Place | None


def find_window(reading: Session, job: TaggingJobs, request: JobRequest) -> Window:
    """Return the next window of the job, without locks; while it counts, of matches that do not have its tags."""
    conditions = find_conditions(reading, job.case_id, request.query)
    if conditions is None:
        return Window([], None)
    if job.status == TaggingJobStatus.RUNNING:
        conditions.append(Exhibits.id <= job.highest_id)
    else:
        conditions.append(_is_untagged(reading, job.case_id, request))
    here, place = _follow(job), Place(job.import_id, job.line_no)
    end = _find_end(reading, here)
    statement = select(Exhibits.id, Exhibits.line_no).where(*here, Exhibits.case_id == job.case_id, *conditions)
    if end is not None:
        statement = statement.where(Exhibits.line_no <= end)
    statement = force_index(statement.order_by(Exhibits.line_no).limit(WINDOW), Exhibits, "ix_exhibits_import")
    rows = reading.execute(statement).all()
    ids = sorted(row.id for row in rows)
    last = rows[-1].line_no if len(rows) == WINDOW else end
    if last is not None:
        return Window(ids, place._replace(line_no=last))
    return Window(ids, _find_next(reading, job, request.query.import_id))


def _follow(job: TaggingJobs) -> tuple[ColumnElement[bool], ...]:
    return Exhibits.import_id == job.import_id, Exhibits.line_no > job.line_no


def _find_end(reading: Session, here: Sequence[ColumnElement[bool]]) -> int | None:
    """Return the line of the last exhibit that is looked at; None if all others of the import are."""
    statement = select(Exhibits.line_no).where(*here).order_by(Exhibits.line_no).offset(SCANNED - 1).limit(1)
    return reading.scalars(force_index(statement, Exhibits, "ix_exhibits_import")).one_or_none()


def _find_next(reading: Session, job: TaggingJobs, only: int | None) -> Place | None:
    """Return the begin of the case's next import, or of the one whose exhibits are selected."""
    following = select(func.min(Imports.id)).where(Imports.case_id == job.case_id, Imports.id > job.import_id)
    if only is not None:
        following = following.where(Imports.id == only)
    import_id = reading.scalar(following)
    return None if import_id is None else Place(import_id, 0)


def _is_untagged(reading: Session, case_id: int, request: JobRequest) -> ColumnElement[bool]:
    """Return the condition that an exhibit lacks a tag which the job adds, or has one which it removes."""
    found = find_named(reading, case_id, {Tags: [*request.add, *request.remove]})[Tags]
    lacks = (~has_link(Link(Taggings, found[name].id)) for name in request.add if name in found)
    has = (has_link(Link(Taggings, found[name].id)) for name in request.remove if name in found)
    return or_(Exhibits.id.is_(None), *lacks, *has)


def tag_window(transaction: Session, job: TaggingJobs, request: JobRequest, ids: Sequence[int]) -> None:
    """Lock the exhibits and tag those that match now; add to the counts of the job, which is locked."""
    versions = _lock_matching(transaction, job.case_id, request, ids)
    if not versions:
        return
    matching = sorted(versions)
    added = lock_named_tags(transaction, job.case_id, request.add)
    removed = lock_named_tags(transaction, job.case_id, request.remove)
    existing = find_taggings(transaction, matching, [*added, *removed])
    if added:
        create_np_taggings(transaction, request.add, matching, {"case_id": job.case_id, "user_id": job.user_id})
    if removed:
        job.removed += delete_taggings(transaction, matching, removed)
    all_changes = {each: _list_changes(added, removed, existing.get(each, ())) for each in matching}
    author = Author(Action.TAGGED if added else Action.UNTAGGED, job.user_id, job_id=job.id)
    record_changes(transaction, author, versions, {each: made for each, made in all_changes.items() if made})
    job.tagged += len(matching)
    job.created += sum(
        not change.old and change.new is True for made in all_changes.values() for change in made.values()
    )


def _lock_matching(transaction: Session, case_id: int, request: JobRequest, ids: Sequence[int]) -> dict[int, int]:
    """Lock the exhibits, and return the versions of those that match the filters now."""
    if not ids:
        return {}
    own = is_in(Exhibits.id, ids)
    locking = select(Exhibits.id, Exhibits.version).where(own).order_by(Exhibits.id).with_for_update()
    versions = {row.id: row.version for row in transaction.execute(force_index(locking, Exhibits, "PRIMARY"))}
    conditions = find_conditions(transaction, case_id, request.query)
    if conditions is None:
        return {}
    matching = force_index(select(Exhibits.id).where(own, *conditions), Exhibits, "PRIMARY")
    return {each: versions[each] for each in transaction.scalars(matching)}


def _list_changes(added: Mapping[int, str], removed: Mapping[int, str], existing: Sequence[int]) -> Changes:
    """Return the changes of one exhibit: every tag to add, also one that it has, and those that are removed."""
    taken = {Key(Kind.TAG, removed[each]): Change(True, False) for each in existing if each in removed}
    return {**assert_links(Kind.TAG, added, existing), **taken}
