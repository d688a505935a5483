"""Serve the API of exports: files of a case's documents, pages, tags or history."""

from core.contracts import exports as schemas
from shell.api import app as api
from shell.api.conditional import IfNoneMatch, respond_to_poll
from shell.api.mutations import ResponseOptions, run_idempotent
from shell.exports import commands, queries

app = api.http_app()
lambda_handler = api.http_handler(app)
_ACCEPTED = ResponseOptions(status=202, location="/exports", writes_events=True)


@app.post("/exports", **api.for_viewers(202, schemas.Export, 404, 409, 422, location=True))
def create_export(body: schemas.NewExport, request: api.Request, key: api.Key) -> api.Response:
    """Export the documents of a case, or their pages, tags or history, to a file."""
    return run_idempotent(request, key, commands.create_export, body, options=_ACCEPTED)


@app.get("/exports", **api.for_viewers(200, schemas.ExportPage, 404))
def list_exports(request: api.Request, filters: api.ExportFilter) -> schemas.ExportPage:
    """List exports, newest first."""
    return queries.list_exports(request.caller, filters)


@app.get("/exports/<export_id>", **api.for_polls(schemas.Export))
def get_export(export_id: api.Id, request: api.Request, known: IfNoneMatch = None) -> api.Response:
    """Get the status of an export."""
    return respond_to_poll(known, queries.get_export(request.caller, export_id))


@app.get("/exports/<export_id>/file", **api.for_viewers(200, schemas.ExportFile, 404, 409))
def get_export_file(export_id: api.Id, request: api.Request) -> schemas.ExportFile:
    """Get the URL of the file of a completed export."""
    return queries.get_file(request.caller, export_id)


@app.post("/exports/<export_id>/cancel", **api.for_viewers(200, schemas.Export, 404, 409, 422))
def cancel_export(export_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Cancel an export that has not ended."""
    return run_idempotent(request, key, commands.cancel_export, export_id)
