"""The routes by which tags are added to exhibits and removed: from a list of exhibits at once, or by a job.

A handler adds them to its application with `add_tagging_routes`.
"""

from __future__ import annotations

from core.contracts import tagging_jobs as schemas
from core.contracts.taggings import TaggingRequest, TaggingsMade, TaggingsRemoved
from shell.api import app as api
from shell.api.conditional import IfNoneMatch, respond_to_poll
from shell.api.mutations import ONE_AT_A_TIME, ResponseOptions, run_idempotent
from shell.api.resolver import ApiResolver
from shell.exhibits import commands
from shell.tagging_jobs import commands as jobs
from shell.tagging_jobs import queries


def add_tagging_routes(app: ApiResolver) -> None:
    """Add the routes to an application."""
    app.post("/taggings", **api.for_editors(200, TaggingsMade, 404, 409, 422))(add_taggings)
    app.delete("/taggings", **api.for_editors(200, TaggingsRemoved, 404, 409, 422))(remove_taggings)
    created = api.for_editors(202, schemas.TaggingJob, 404, 409, 422, location=True)
    app.post("/tagging-jobs", **created)(create_tagging_job)
    app.get("/tagging-jobs", **api.for_viewers(200, schemas.TaggingJobPage, 404))(list_tagging_jobs)
    app.get("/tagging-jobs/<job_id>", **api.for_polls(schemas.TaggingJob))(get_tagging_job)
    cancelled = api.for_editors(200, schemas.TaggingJob, 404, 409, 422)
    app.post("/tagging-jobs/<job_id>/cancel", **cancelled)(cancel_tagging_job)


def add_taggings(body: TaggingRequest, request: api.Request, key: api.Key) -> api.Response:
    """Add tags to exhibits. Taggings that exist already stay unchanged."""
    return run_idempotent(request, key, commands.add_taggings, body, options=ONE_AT_A_TIME)


def remove_taggings(body: TaggingRequest, request: api.Request, key: api.OptionalKey = None) -> api.Response:
    """Remove tags from exhibits."""
    return run_idempotent(request, key, commands.remove_taggings, body)


def create_tagging_job(body: schemas.NewTaggingJob, request: api.Request, key: api.Key) -> api.Response:
    """Add tags to all exhibits of a case that match filters, and remove others, in the background."""
    options = ResponseOptions(status=202, location="/tagging-jobs")
    return run_idempotent(request, key, jobs.create_job, body, options=options)


def list_tagging_jobs(request: api.Request, filters: api.TaggingJobFilter) -> schemas.TaggingJobPage:
    """List tagging jobs, newest first."""
    return queries.list_jobs(request.caller, filters)


def get_tagging_job(job_id: api.Id, request: api.Request, known: IfNoneMatch = None) -> api.Response:
    """Get the status and the counts of a tagging job."""
    return respond_to_poll(known, queries.get_job(request.caller, job_id))


def cancel_tagging_job(job_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Cancel a tagging job. What it has tagged stays tagged."""
    return run_idempotent(request, key, jobs.cancel_job, job_id)
