"""Serve the API of volumes."""

from __future__ import annotations

from core.contracts import volumes as schemas
from shell.api import app as api
from shell.api.conditional import IfNoneMatch, respond_to_poll
from shell.api.mutations import STARTS_VOLUME, ResponseOptions, run_idempotent
from shell.volumes import commands, queries, uploads

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/volumes", **api.for_editors(201, schemas.CreatedVolume, 404, 409, 422, location=True))
def create_volume(body: schemas.NewVolume, request: api.Request, key: api.Key) -> api.Response:
    """Create a volume. For a zip, get the URLs to upload it; otherwise declare the files next."""
    options = ResponseOptions(location="/volumes", complete=uploads.sign_stored_volume)
    return run_idempotent(request, key, uploads.create_volume, body, options=options)


@app.get("/volumes", **api.for_viewers(200, schemas.VolumePage, 404))
def list_volumes(request: api.Request, filters: api.VolumeFilter) -> schemas.VolumePage:
    """List volumes, newest first."""
    return queries.list_volumes(request.caller, filters)


@app.get("/volumes/<volume_id>", **api.for_polls(schemas.VolumeDetails))
def get_volume(volume_id: api.Id, request: api.Request, known: IfNoneMatch = None) -> api.Response:
    """Get the status of a volume, and its imports."""
    return respond_to_poll(known, queries.get_volume(request.caller, volume_id))


@app.post("/volumes/<volume_id>/files", **api.for_editors(200, schemas.FileUploads, 404, 409, 422))
def declare_files(
    volume_id: api.Id, body: api.Batch[schemas.NewVolumeFile], request: api.Request, key: api.Key
) -> api.Response:
    """Declare files of a volume and get the URLs to upload them. Declare them again to renew the URLs."""
    options = ResponseOptions(complete=lambda stored: uploads.sign_stored_files(volume_id, stored))
    return run_idempotent(request, key, uploads.declare_files, volume_id, body, options=options)


@app.get("/volumes/<volume_id>/files", **api.for_viewers(200, schemas.VolumeFilePage, 404))
def list_files(volume_id: api.Id, request: api.Request, page: api.List) -> schemas.VolumeFilePage:
    """List the files of a volume; there are none before it is sealed."""
    return queries.list_files(request.caller, volume_id, page)


@app.post("/volumes/<volume_id>/import", **api.for_editors(200, schemas.VolumeDetails, 404, 409, 422))
def import_volume(
    volume_id: api.Id, body: schemas.VolumeImportRequest, request: api.Request, key: api.Key
) -> api.Response:
    """Seal a volume and import its load files; or import it again, after a failure or an undo."""
    return run_idempotent(request, key, commands.import_volume, volume_id, body, options=STARTS_VOLUME)


@app.delete("/volumes/<volume_id>", **api.for_admins(200, schemas.VolumeDetails, 404, 409, 422))
def delete_volume(volume_id: api.Id, request: api.Request, key: api.OptionalKey = None) -> api.Response:
    """Delete the files of a volume that no import needs."""
    return run_idempotent(request, key, commands.delete_volume, volume_id)
