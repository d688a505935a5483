"""Create and cancel tagging jobs.

Guaranteed: a job, its tags and its message exist together, or none does; a tag that the job adds is not deleted while
the job runs, also if the import that added it is undone. The transaction is the caller's.
"""

from __future__ import annotations

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.tagging_jobs import NewTaggingJob, TaggingJob
from core.errors import InvalidInputError, WrongStateError
from core.statuses import ACTIVE_TAGGING_JOBS, TaggingJobStatus
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.case_state.fence import Entry, enter_case
from shell.exhibits.case_list import count_documents
from shell.exhibits.cases import get_case_id
from shell.exhibits.match_keys import count_matches
from shell.exhibits.matches import find_matches, require_own
from shell.exhibits.search import MAX_SEARCHED
from shell.tables.custodians_tags import Tags
from shell.tables.exhibits import Exhibits
from shell.tables.links import TaggingJobs
from shell.tagging_jobs.queries import describe_job, load_job
from shell.tagging_jobs.state import format_request, lock_job, parse_request, send_turn
from shell.taggings_ops import lock_named_tags
from shell.utils.db_helpers import force_index
from shell.utils.named_rows import find_or_add_named

# The end or undo of an import deletes the tags that it added and that no exhibit has.
_OF_IMPORTS = text("SELECT id FROM tags WHERE id IN :ids AND import_id IS NOT NULL ORDER BY id").bindparams(
    bindparam("ids", expanding=True)
)
_DETACH_FROM_IMPORT = text(
    "UPDATE tags FORCE INDEX (PRIMARY) SET import_id = NULL, line_no = NULL, version = version + 1 "
    "WHERE id = :id AND import_id IS NOT NULL"
)


def create_job(transaction: Session, caller: Caller, body: NewTaggingJob) -> TaggingJob:
    """Record the job, with the tags that it adds, and send its first message.

    Raises NotFoundError for a case or import that the caller does not have, InvalidInputError for a tag that its
    column cannot store unchanged or that is both added and removed, and QueueUnavailableError.
    """
    case_id = get_case_id(transaction, caller, body.case)
    enter_case(transaction, case_id)
    require_own(transaction, case_id, body.query.model_dump(by_alias=True))
    _take_tags(transaction, case_id, body)
    job = TaggingJobs(
        tenant_id=caller.tenant_id,
        case_id=case_id,
        user_id=caller.user_id,
        request=format_request(body),
        highest_id=_find_highest(transaction, case_id),
    )
    job.expected = _count_expected(transaction, case_id, parse_request(case_id, job.request).query)
    transaction.add(job)
    transaction.flush()
    transaction.refresh(job)
    summary = {"add": len(set(body.add)), "remove": len(set(body.remove)), "expected": job.expected}
    record_act(transaction, caller, Act(ActKind.TAGGING_JOB_CREATED, job.id, case_id, summary))
    send_turn(transaction, job)
    return describe_job(job, body.case)


def _find_highest(reading: Session, case_id: int) -> int:
    """Return the highest id of the case's exhibits, from the index of their control numbers; 0 without one."""
    highest = select(func.max(Exhibits.id)).where(Exhibits.case_id == case_id)
    return reading.scalar(force_index(highest, Exhibits, "uq_exhibits_control_number")) or 0


def _take_tags(transaction: Session, case_id: int, body: NewTaggingJob) -> None:
    """Add the tags that do not exist, and detach the others from the imports that added them."""
    added = find_or_add_named(transaction, Tags, case_id, body.add)
    ids = [row.id for row in added.values()]
    for tag_id in transaction.scalars(_OF_IMPORTS, {"ids": ids}).all() if ids else ():
        transaction.execute(_DETACH_FROM_IMPORT, {"id": tag_id})
    kept = lock_named_tags(transaction, case_id, body.add)
    both = sorted(name for each, name in lock_named_tags(transaction, case_id, body.remove).items() if each in kept)
    if both:
        raise InvalidInputError(f"The tag {both[0]!r} is in add and in remove; leave it out of one of them.")


def _count_expected(reading: Session, case_id: int, query: ExhibitQuery) -> int | None:
    """Return how many exhibits match now, at most MAX_SEARCHED + 1 with filters; None if a search does not find all."""
    matches = find_matches(reading, case_id, query)
    if matches is None:
        return 0
    if not matches.filters:
        return count_documents(reading, case_id)
    counted = count_matches(reading, matches)
    return None if counted.is_least and counted.number <= MAX_SEARCHED else counted.number


def cancel_job(transaction: Session, caller: Caller, job_id: int) -> TaggingJob:
    """End the job where it is; leave one that is cancelled unchanged.

    Raises NotFoundError, and WrongStateError for a job that is completed or failed.
    """
    enter_case(transaction, load_job(transaction, caller, job_id)[0].case_id, Entry.READ)
    lock_job(transaction, job_id)
    job, case = load_job(transaction, caller, job_id)
    if job.status in ACTIVE_TAGGING_JOBS:
        job.status = TaggingJobStatus.CANCELLED.value
        job.finished_at = transaction.execute(select(func.now(6))).scalar_one()
        summary = {"tagged": job.tagged, "created": job.created, "removed": job.removed}
        record_act(transaction, caller, Act(ActKind.TAGGING_JOB_CANCELLED, job.id, job.case_id, summary))
    elif job.status == TaggingJobStatus.CANCELLED:
        record_no_act(transaction)
    else:
        raise WrongStateError(f"The tagging job has ended with the status {job.status}.")
    return describe_job(job, case)
