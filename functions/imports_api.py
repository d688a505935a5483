"""Serve the API of imports."""

from __future__ import annotations

from core.contracts import import_rows as rows
from core.contracts import imports as schemas
from shell.api import app as api
from shell.api.mutations import WRITES_EVENTS, ResponseOptions, run_idempotent
from shell.imports import commands, queries, uploads

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/imports", **api.for_editors(201, schemas.ImportUpload, 404, 409, 422, location=True))
def create_import(body: schemas.NewImport, request: api.Request, key: api.Key) -> api.Response:
    """Create an import and get the URLs to upload its file. The import starts when the upload is complete."""
    return run_idempotent(
        request,
        key,
        uploads.create_import,
        body,
        options=ResponseOptions(location="/imports", complete=uploads.sign_stored_upload),
    )


@app.get("/imports", **api.for_viewers(200, schemas.ImportPage, 404))
def list_imports(request: api.Request, filters: api.ImportFilter) -> schemas.ImportPage:
    """List imports, newest first."""
    return queries.list_imports(request.caller, **filters.model_dump())


@app.get("/imports/<import_id>", **api.for_viewers(200, schemas.ImportDetails, 404))
def get_import(import_id: api.Id, request: api.Request) -> schemas.ImportDetails:
    """Get the status, the progress and the report files of an import."""
    return queries.get_import(request.caller, import_id)


@app.get("/imports/<import_id>/rejections", **api.for_viewers(200, rows.RejectionPage, 404))
def list_rejections(import_id: api.Id, request: api.Request, filters: api.RejectionFilter) -> rows.RejectionPage:
    """List the rows that were not imported, with line and reason, in the order of the file."""
    return queries.list_rejections(request.caller, import_id, **filters.model_dump())


@app.get("/imports/<import_id>/warnings", **api.for_viewers(200, rows.WarningPage, 404))
def list_warnings(import_id: api.Id, request: api.Request, page: api.Page) -> rows.WarningPage:
    """List the changes to values of imported rows, in the order of the file."""
    return queries.list_warnings(request.caller, import_id, **page.model_dump())


@app.post("/imports/<import_id>/cancel", **api.for_editors(200, schemas.ImportState, 404, 409, 422))
def cancel_import(import_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Cancel an import. Rows that are imported already stay imported."""
    return run_idempotent(request, key, commands.cancel_import, import_id, options=WRITES_EVENTS)


@app.post("/imports/<import_id>/retry", **api.for_editors(200, schemas.ImportState, 404, 409, 422))
def retry_import(import_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Retry the failed or cancelled parts of an import."""
    return run_idempotent(request, key, commands.retry_import, import_id, options=WRITES_EVENTS)
