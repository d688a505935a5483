"""API Gateway: announce a load file, follow its import, cancel it, retry what failed."""

from __future__ import annotations

from core.contracts import imports as its
from shell import http_api as api
from shell import import_control_ops, import_query_ops, upload_ops
from shell.request_ops import changed

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/imports", responses=api.answers(201, its.ImportUpload, 409, 422, location=True))
def announce_import(body: its.NewImport, asked: api.Asked, key: api.Key) -> api.Answered:
    """Announce a load file; the answer says where to upload it. The import starts by itself once it is there."""
    return changed(asked, key, upload_ops.create_import, body, at="/imports", show=upload_ops.signed_document)


@app.get("/imports", responses=api.answers(200, its.ImportPage, 404))
def list_imports(asked: api.Asked, which: api.WhichImports) -> its.ImportPage:
    """List imports, newest first."""
    return import_query_ops.list_imports(asked.caller, **which.model_dump())


@app.get("/imports/<import_id>", responses=api.answers(200, its.ImportDetails, 404))
def get_import(import_id: api.PathId, asked: api.Asked) -> its.ImportDetails:
    """Tell how far an import is."""
    return import_query_ops.get_import(asked.caller, import_id)


@app.get("/imports/<import_id>/rejections", responses=api.answers(200, its.RejectionPage, 404))
def list_rejections(import_id: api.PathId, asked: api.Asked, page: api.Page) -> its.RejectionPage:
    """List the rows that were not imported, with line and reason, in the file's order."""
    return import_query_ops.list_rejections(asked.caller, import_id, **page.model_dump())


@app.get("/imports/<import_id>/warnings", responses=api.answers(200, its.WarningPage, 404))
def list_warnings(import_id: api.PathId, asked: api.Asked, page: api.Page) -> its.WarningPage:
    """List what was changed in imported rows, in the file's order."""
    return import_query_ops.list_warnings(asked.caller, import_id, **page.model_dump())


@app.post("/imports/<import_id>/cancel", responses=api.answers(200, its.ImportState, 404, 409, 422))
def cancel_import(import_id: api.PathId, asked: api.Asked, key: api.Key) -> api.Answered:
    """End an import where it stands; rows that are in stay in."""
    return changed(asked, key, import_control_ops.cancel_import, import_id, announces=True)


@app.post("/imports/<import_id>/retry", responses=api.answers(200, its.ImportState, 404, 409, 422))
def retry_import(import_id: api.PathId, asked: api.Asked, key: api.Key) -> api.Answered:
    """Try again what failed, and only that."""
    return changed(asked, key, import_control_ops.retry_import, import_id, announces=True)
