"""Serve the API of uploads that are resumed, and of previews before an upload."""

from __future__ import annotations

from core.contracts.imports import uploads as schemas
from core.contracts.imports.previews import ImportPreview
from shell.api import app as api
from shell.api.mutations import ResponseOptions, run_idempotent
from shell.imports import early_previews as previews
from shell.imports.upload_state import get_upload
from shell.volumes import upload_state as volumes

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/imports/<import_id>/upload", **api.for_editors(200, schemas.UploadState, 404, 409))
def get_import_upload(import_id: api.Id, request: api.Request) -> schemas.UploadState:
    """Get the parts of an import's file that are there, and URLs for the others."""
    return get_upload(request.caller, import_id)


@app.get("/volumes/<volume_id>/upload", **api.for_editors(200, schemas.UploadState, 404, 409))
def get_volume_upload(volume_id: api.Id, request: api.Request, which: api.UploadPath) -> schemas.UploadState:
    """Get the parts of a volume's zip, or of one of its files, that are there, and URLs for the others."""
    return volumes.get_upload(request.caller, volume_id, which.path)


@app.post("/previews", **api.for_editors(201, schemas.PreviewUpload, 404, 409, 422, location=True))
def create_preview(body: schemas.NewPreview, request: api.Request, key: api.Key) -> api.Response:
    """Get a URL for the beginning of a file, to preview it before the whole file is uploaded."""
    options = ResponseOptions(location="/previews", complete=previews.sign_stored_preview)
    return run_idempotent(request, key, previews.create_preview, body, options=options)


@app.get("/previews/<preview_id>", **api.for_viewers(200, ImportPreview, 404, 409, 422))
def get_preview(preview_id: api.PreviewId, request: api.Request, options: api.PreviewOptions) -> ImportPreview:
    """Get how an import would read a file with these options, from its beginning, which must be uploaded."""
    return previews.read_preview(request.caller, preview_id, options)
