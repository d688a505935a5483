"""Serve the API of steps, checks, corrections and undos of imports: their options, what was found, what is undone."""

from __future__ import annotations

from core.contracts.imports import checks, corrections, undos
from shell.api import app as api
from shell.api.mutations import ResponseOptions, run_idempotent
from shell.api.routes import steps
from shell.imports.checks import queries
from shell.imports.corrections.commands import NewCorrection
from shell.imports.corrections.rejected_rows import list_rejected_rows
from shell.imports.undo import commands as undo_commands
from shell.imports.undo import queries as undo_queries

app = api.http_app()
lambda_handler = api.http_handler(app)
steps.add_routes(app)
_UNDO = ResponseOptions(choose_status=lambda undo: 200 if undo.finished_at or undo.undo_no is None else 202)


@app.get("/imports/<import_id>/findings", **api.for_viewers(200, checks.FindingPage, 404))
def list_findings(import_id: api.Id, request: api.Request, filters: api.FindingFilter) -> checks.FindingPage:
    """List what the check of a file found, by code and in the order of the file."""
    return queries.list_findings(request.caller, import_id, **filters.model_dump())


@app.get("/imports/<import_id>/rejected-rows", **api.for_viewers(200, corrections.RejectedRowPage, 404))
def list_rows(import_id: api.Id, request: api.Request, filters: api.RejectedRowFilter) -> corrections.RejectedRowPage:
    """List the rejected rows of an import as cells, with their errors and corrections, in the order of the file."""
    return list_rejected_rows(request.caller, import_id, **filters.model_dump())


@app.post("/imports/<import_id>/corrections", **api.for_editors(201, corrections.Correction, 404, 409, 422))
def correct(import_id: api.Id, body: corrections.NewCorrections, request: api.Request, key: api.Key) -> api.Response:
    """Import corrected rows in place of rejected ones, and discard others: all of them or none."""
    new = NewCorrection(request.caller, import_id, body)
    options = ResponseOptions(201, check=new.write, writes_events=True, starts_imports=True)
    return run_idempotent(request, key, new.create, options=options)


@app.post("/imports/<import_id>/undo", **api.for_editors(202, undos.Undo, 200, 404, 409, 422))
def undo_import(import_id: api.Id, body: undos.UndoRequest, request: api.Request, key: api.Key) -> api.Response:
    """Undo an import, or find out what that would do. An import that is undone already gets 200 and that undo."""
    return run_idempotent(request, key, undo_commands.undo_import, import_id, body, options=_UNDO)


@app.get("/imports/<import_id>/undo", **api.for_viewers(200, undos.Undo, 404))
def get_undo(import_id: api.Id, request: api.Request) -> undos.Undo:
    """Get the progress and the result of the last undo of an import, or of the last dry run."""
    return undo_queries.get_undo(request.caller, import_id)


@app.get("/imports/<import_id>/undo/kept", **api.for_viewers(200, undos.KeptPage, 404))
def list_kept(import_id: api.Id, request: api.Request, page: api.List) -> undos.KeptPage:
    """List what the last undo of an import, or the last dry run, kept, in the order of the file."""
    return undo_queries.list_kept(request.caller, import_id, page)
