"""Rows of tagging jobs: what a request is stored as, the lock, and the message that has a job go on."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.stored_filters import pack_filters, unpack_filters
from core.contracts.tagging_jobs import NewTaggingJob
from core.statuses import ACTIVE_TAGGING_JOBS
from shell.aws.sqs import send_messages
from shell.settings import settings
from shell.tables.links import TaggingJobs
from shell.work.messages import TaggingMessage


class JobRequest(NamedTuple):
    """What a job was requested to do."""

    query: ExhibitQuery
    add: list[str]
    remove: list[str]


def format_request(body: NewTaggingJob) -> str:
    """Return the request as the JSON that is stored; the case is stored by its id."""
    query = body.query.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps({"query": pack_filters(query), "add": sorted(set(body.add)), "remove": sorted(set(body.remove))})


def parse_request(case_id: int, request: str) -> JobRequest:
    """Return what `format_request` formatted."""
    stored = json.loads(request)
    query = ExhibitQuery.model_validate({"caseId": case_id, **unpack_filters(stored["query"])})
    return JobRequest(query, stored["add"], stored["remove"])


def lock_job(transaction: Session, job_id: int) -> TaggingJobs | None:
    """Lock and return the job, before anything else that the transaction locks; None if it does not exist.

    A read with a lock waits for a transaction that is inserting the job.
    """
    locking = select(TaggingJobs).where(TaggingJobs.id == job_id).with_for_update()
    return transaction.scalars(locking.execution_options(populate_existing=True)).one_or_none()


def lock_turn(transaction: Session, message: TaggingMessage) -> TaggingJobs | None:
    """Lock and return the job of a message; None if the job has ended, or another message has the work."""
    job = lock_job(transaction, message.job_id)
    return job if job is not None and job.turn == message.turn and job.status in ACTIVE_TAGGING_JOBS else None


def send_turn(transaction: Session, job: TaggingJobs) -> None:
    """Send the message of the job's turn, before the transaction commits. Raises QueueUnavailableError."""
    transaction.flush()
    send_messages(settings().import_chunks_queue_url, [TaggingMessage(job.id, job.turn)], tenant_id=job.tenant_id)
