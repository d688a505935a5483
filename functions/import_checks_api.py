"""Serve the API of checks: read what was found in a load file, and import it."""

from __future__ import annotations

from core.contracts import checks as schemas
from core.contracts.imports import ImportState
from shell.api import app as api
from shell.api.mutations import WRITES_EVENTS, run_idempotent
from shell.imports.checks import commands, queries

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/imports/<import_id>/findings", **api.for_viewers(200, schemas.FindingPage, 404))
def list_findings(import_id: api.Id, request: api.Request, filters: api.FindingFilter) -> schemas.FindingPage:
    """List what the check of a file found, by code and in the order of the file."""
    return queries.list_findings(request.caller, import_id, **filters.model_dump())


@app.post("/imports/<import_id>/run", **api.for_editors(200, ImportState, 404, 409, 422))
def run_import(import_id: api.Id, body: schemas.RunRequest, request: api.Request, key: api.Key) -> api.Response:
    """Import a file that was checked, without uploading it again."""
    return run_idempotent(request, key, commands.run_import, import_id, body, options=WRITES_EVENTS)
