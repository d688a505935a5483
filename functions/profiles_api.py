"""Serve the API of mapping profiles, and of previews, which suggest them."""

from __future__ import annotations

from core.contracts import profiles as schemas
from core.contracts.imports import previews
from shell.api import app as api
from shell.api.mutations import WITH_ETAG, ResponseOptions, parse_if_match, respond_with_etag, run_idempotent
from shell.imports import profiles as ops
from shell.imports.previews import preview_import as preview

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/imports/<import_id>/preview", **api.for_viewers(200, previews.ImportPreview, 404, 409, 422))
def preview_import(import_id: api.Id, request: api.Request, options: api.PreviewOptions) -> previews.ImportPreview:
    """Get how an import would read its file, which must be uploaded, from the file's first bytes."""
    return preview(request.caller, import_id, options)


@app.post("/profiles", **api.for_editors(201, schemas.Profile, 404, 409, 422, etag=True, location=True))
def create_profile(body: schemas.NewProfile, request: api.Request, key: api.Key) -> api.Response:
    """Create a mapping profile, from options or from an import."""
    options = ResponseOptions(location="/profiles", etag=True)
    return run_idempotent(request, key, ops.create_profile, body, options=options)


@app.get("/profiles", **api.for_viewers(200, schemas.ProfilePage))
def list_profiles(request: api.Request, filters: api.ProfileFilter) -> schemas.ProfilePage:
    """List mapping profiles, ordered by name."""
    return ops.list_profiles(request.caller, filters)


@app.get("/profiles/<profile_id>", **api.for_viewers(200, schemas.Profile, 404, etag=True))
def get_profile(profile_id: api.Id, request: api.Request) -> api.Response:
    """Get a mapping profile. Its ETag is required to change or delete it."""
    return respond_with_etag(ops.get_profile(request.caller, profile_id))


@app.put("/profiles/<profile_id>", **api.for_editors(200, schemas.Profile, *api.VERSIONED, etag=True))
def replace_profile(
    profile_id: api.Id,
    body: schemas.NewProfile,
    request: api.Request,
    if_match: api.IfMatch = None,
    key: api.OptionalKey = None,
) -> api.Response:
    """Replace a mapping profile, if If-Match names its current version. Imports keep the copy that they have."""
    versions = parse_if_match(if_match)
    return run_idempotent(request, key, ops.replace_profile, profile_id, versions, body, options=WITH_ETAG)


@app.delete("/profiles/<profile_id>", **api.for_editors(200, schemas.Profile, *api.VERSIONED))
def delete_profile(
    profile_id: api.Id, request: api.Request, if_match: api.IfMatch = None, key: api.OptionalKey = None
) -> api.Response:
    """Delete a mapping profile, if If-Match names its current version. Imports keep the copy that they have."""
    return run_idempotent(request, key, ops.delete_profile, profile_id, parse_if_match(if_match))
