"""Do the work of a tagging job, in steps of one transaction each.

Guaranteed: the job's row is locked first, and its place commits with what was tagged up to there: each exhibit is
tagged once, however often a message is delivered or a worker is killed. A job has one message whose turn is that of its
row. That message is sent before the transaction commits that begins the turn; if it does not commit, the message before
is delivered again and sends another one. A message of another turn has no effect.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from core.statuses import ImportPhase, ImportStatus, TaggingJobStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.observability import emit_counts, logger
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.links import TaggingJobs
from shell.tables.undos import ImportUndos
from shell.tagging_jobs.state import lock_turn, parse_request, send_turn
from shell.tagging_jobs.windows import Place, find_window, tag_window
from shell.tenants.starts import postpone
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import TaggingMessage
from shell.work.redrive import send_back

# A message waits for its turn in the queue of chunks, where thousands may be before it.
STEPS_PER_MESSAGE = 40
_MARGIN_S = 20.0
_MAX_IMPORTS = 100
_WRITING = (ImportStatus.RUNNING.value, ImportStatus.UNDOING.value)
_BEGIN = Place(0, 0)


def work_on_job(message: TaggingMessage) -> None:
    """Take the next steps of the job, the last of which sends the next message; do nothing for another turn.

    While nothing starts for the tenant, the message is sent again with a delay instead: a job waits between two turns.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    tenant_id = _find_tenant(message.job_id)
    if tenant_id is not None and postpone(tenant_id, settings().import_chunks_queue_url, message):
        return
    is_near = build_deadline_check(_MARGIN_S)
    steps = 1
    while take_step(message, is_last=steps >= STEPS_PER_MESSAGE or is_near()):
        steps += 1


@retry_on_db_conflict(resolve=rerun_if_unknown)
def take_step(message: TaggingMessage, *, is_last: bool) -> bool:
    """Tag or count one window; return whether this message has more to do. With `is_last`, the next one has.

    If it is unknown whether it committed, it is taken again: the row says where the job is, and whose turn it is.
    """
    with session() as transaction:
        job = lock_turn(transaction, message)
        if job is None:
            return False
        request = parse_request(job.case_id, job.request)
        window = find_window(transaction, job, request)
        if job.status == TaggingJobStatus.RUNNING:
            tag_window(transaction, job, request, window.ids)
        else:
            job.remaining += len(window.ids)
        _advance(transaction, job, window.place)
        if is_last and job.finished_at is None:
            job.turn += 1
            send_turn(transaction, job)
        return job.finished_at is None and not is_last


def _advance(transaction: Session, job: TaggingJobs, place: Place | None) -> None:
    """Move the job to a place; without one, begin to count or complete it."""
    if place is not None:
        job.import_id, job.line_no = place
        return
    now = transaction.execute(select(func.now(6))).scalar_one()
    beside = {*json.loads(job.imports_beside or "[]"), *_list_imports_beside(transaction, job)}
    job.imports_beside = json.dumps(sorted(beside)[:_MAX_IMPORTS])
    if job.status == TaggingJobStatus.RUNNING:
        job.status, job.counting_at = TaggingJobStatus.COUNTING.value, now
        job.import_id, job.line_no = _BEGIN
    else:
        _end(transaction, job, TaggingJobStatus.COMPLETED, now)


def _list_imports_beside(reading: Session, job: TaggingJobs) -> list[int]:
    """Return imports of the case that write or are undone now, or have ended or were undone since counting began."""
    writes: list[ColumnElement[bool]] = [Imports.status.in_(_WRITING)]
    if job.counting_at is not None:
        writes.append(and_(Imports.finished_at >= job.counting_at, Imports.phase == ImportPhase.IMPORT.value))
        # The end of an undo is not that of its import.
        undone = select(ImportUndos.import_id).where(ImportUndos.import_id == Imports.id, ImportUndos.dry_run == 0)
        writes.append(undone.where(ImportUndos.finished_at >= job.counting_at).exists())
    statement = select(Imports.id).where(Imports.case_id == job.case_id, or_(*writes))
    return list(reading.scalars(statement.order_by(Imports.id).limit(_MAX_IMPORTS)))


def _end(transaction: Session, job: TaggingJobs, status: TaggingJobStatus, now: datetime) -> None:
    job.status, job.finished_at = status.value, now
    is_completed = status is TaggingJobStatus.COMPLETED
    kind = ActKind.TAGGING_JOB_COMPLETED if is_completed else ActKind.TAGGING_JOB_FAILED
    counts = {"tagged": job.tagged, "created": job.created, "removed": job.removed}
    summary = {**counts, "remaining": job.remaining} if is_completed else counts
    record_own_act(transaction, job.tenant_id, Act(kind, job.id, job.case_id, summary))


def handle_failed_turn(message: TaggingMessage) -> None:
    """Send the message back the first time, in case of an outage; the second time, record that the job failed."""
    if send_back(message, settings().import_chunks_queue_url, partial(_find_tenant, message.job_id)):
        return
    if _fail(message):
        logger.error("tagging job failed in every attempt", extra={"job_id": message.job_id})
        emit_counts(ChunksFailed=1)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_tenant(job_id: int) -> str | None:
    with session() as reading:
        return reading.scalar(select(TaggingJobs.tenant_id).where(TaggingJobs.id == job_id))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _fail(message: TaggingMessage) -> bool:
    with session() as transaction:
        job = lock_turn(transaction, message)
        if job is not None:
            _end(transaction, job, TaggingJobStatus.FAILED, transaction.execute(select(func.now(6))).scalar_one())
    return job is not None
