"""Serve the API of imports."""

from __future__ import annotations

from core.contracts.imports.announcements import ImportUpload, NewImport
from core.contracts.imports.details import ImportDetails
from core.contracts.imports.states import ImportPage, ImportState
from shell.api import app as api
from shell.api.conditional import IfNoneMatch, respond_to_poll
from shell.api.mutations import STARTS_IMPORTS, WRITES_EVENTS, ResponseOptions, run_idempotent
from shell.imports import commands, queries, uploads

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/imports", **api.for_editors(201, ImportUpload, 404, 409, 422, location=True))
def create_import(body: NewImport, request: api.Request, key: api.Key) -> api.Response:
    """Create an import and get the URLs to upload its file. The import starts when the upload is complete."""
    return run_idempotent(
        request,
        key,
        uploads.create_import,
        body,
        options=ResponseOptions(location="/imports", complete=uploads.sign_stored_upload),
    )


@app.get("/imports", **api.for_viewers(200, ImportPage, 404))
def list_imports(request: api.Request, filters: api.ImportFilter) -> ImportPage:
    """List imports, newest first."""
    return queries.list_imports(request.caller, filters)


@app.get("/imports/<import_id>", **api.for_polls(ImportDetails))
def get_import(import_id: api.Id, request: api.Request, known: IfNoneMatch = None) -> api.Response:
    """Get the status and the progress of an import, how its file was read, and the names of its report files."""
    return respond_to_poll(known, queries.get_import(request.caller, import_id))


@app.post("/imports/<import_id>/cancel", **api.for_editors(200, ImportState, 404, 409, 422))
def cancel_import(import_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Cancel an import. Rows that are imported already stay imported."""
    return run_idempotent(request, key, commands.cancel_import, import_id, options=WRITES_EVENTS)


@app.post("/imports/<import_id>/retry", **api.for_editors(200, ImportState, 404, 409, 422))
def retry_import(import_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Retry the failed or cancelled parts of an import."""
    return run_idempotent(request, key, commands.retry_import, import_id, options=STARTS_IMPORTS)
