"""Read tagging jobs.

Guaranteed: data of another tenant, and of cases that the caller is not limited to, is not found; a page takes one
statement besides that of its case.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts import tagging_jobs as schemas
from core.contracts.queries import TaggingJobQuery
from core.contracts.stored_filters import unpack_filters
from core.errors import NotFoundError
from core.pagination import build_page, open_window
from core.statuses import TaggingJobStatus
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall, find_chosen_case
from shell.exhibits.search import MAX_SEARCHED
from shell.tables.cases import Cases
from shell.tables.links import TaggingJobs
from shell.utils.db_helpers import force_index, rerun_if_unknown, retry_on_db_conflict


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_job(caller: Caller, job_id: int) -> schemas.TaggingJob:
    """Return the job. Raises NotFoundError."""
    with session() as reading:
        return describe_job(*load_job(reading, caller, job_id))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_jobs(caller: Caller, query: TaggingJobQuery) -> schemas.TaggingJobPage:
    """Return a page of the tenant's jobs, or of those of one case, newest first.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    with session() as reading:
        case_id = find_chosen_case(reading, caller, query)
        # The primary key would read other tenants' rows.
        index = "ix_tagging_jobs_tenant" if case_id is None else "ix_tagging_jobs_case"
        statement = force_index(_select_jobs(caller), TaggingJobs, index)
        if case_id is not None:
            statement = statement.where(TaggingJobs.case_id == case_id)
        rows = reading.execute(select_window(statement, window, TaggingJobs.id)).all()
        total = _count(reading, statement) if query.count else None
    page = build_page(rows, window, lambda row: (row[0].id,))
    items = [schemas.TaggingJobSummary(**_describe_common(row[0], row[1])) for row in page.items]
    return schemas.TaggingJobPage(items=items, next=page.next, prev=page.prev, total=total)


def _count(reading: Session, statement: Select[Any, Any]) -> int:
    return reading.execute(statement.with_only_columns(func.count(), maintain_column_froms=True)).scalar_one()


def load_job(reading: Session, caller: Caller, job_id: int) -> tuple[TaggingJobs, str]:
    """Return the job as committed, and the name of its case. Raises NotFoundError, also for another tenant's job."""
    statement = _select_jobs(caller).where(TaggingJobs.id == job_id)
    found = reading.execute(statement.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise NotFoundError(f"You have no tagging job {job_id}.")
    return found[0], found[1]


def _select_jobs(caller: Caller) -> Select[TaggingJobs, str]:
    statement = select(TaggingJobs, Cases.name).join(Cases, Cases.id == TaggingJobs.case_id)
    return statement.where(TaggingJobs.tenant_id == caller.tenant_id, *build_wall(caller))


def describe_job(job: TaggingJobs, case: str) -> schemas.TaggingJob:
    """Return the job as the API represents it; `case` is the name of its case."""
    return schemas.TaggingJob(
        **_describe_common(job, case),
        query=unpack_filters(json.loads(job.request)["query"]),
        imports_beside=json.loads(job.imports_beside or "[]"),
    )


def _describe_common(job: TaggingJobs, case: str) -> dict[str, Any]:
    request = json.loads(job.request)
    is_bounded = bool(request["query"]) and job.expected is not None and job.expected > MAX_SEARCHED
    return {
        "id": job.id,
        "case": case,
        "status": TaggingJobStatus(job.status),
        "add": request["add"],
        "remove": request["remove"],
        "expected": job.expected,
        "expected_is_lower_bound": is_bounded,
        "tagged": job.tagged,
        "created": job.created,
        "removed": job.removed,
        "remaining": job.remaining if job.status == TaggingJobStatus.COMPLETED else None,
        "created_by": job.user_id,
        "created_at": job.created_at,
        "finished_at": job.finished_at,
    }
