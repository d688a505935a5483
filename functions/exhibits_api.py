"""Serve the API of exhibits and taggings."""

from __future__ import annotations

from core.contracts import exhibit_lists, exhibits
from shell.api import app as api
from shell.api.mutations import WITH_ETAG, parse_if_match, respond_with_etag, run_idempotent
from shell.api.routes import taggings
from shell.exhibits import commands, listing, pages, queries

app = api.http_app()
taggings.add_tagging_routes(app)
lambda_handler = api.http_handler(app)


@app.get("/exhibits", **api.for_viewers(200, exhibit_lists.ExhibitPage, 404, 422))
def list_exhibits(request: api.Request, filters: api.ExhibitFilter) -> exhibit_lists.ExhibitPage:
    """List a case's exhibits, ordered by control number."""
    return listing.list_exhibits(request.caller, filters)


@app.get("/exhibits/keys", **api.for_viewers(200, exhibit_lists.ExhibitKeyList, 404, 422))
def list_exhibit_keys(request: api.Request, filters: api.ExhibitKeyFilter) -> exhibit_lists.ExhibitKeyList:
    """Sample the control numbers of a case's exhibits, so that a page from the middle of the list can be read."""
    return listing.sample_keys(request.caller, filters)


@app.get("/exhibits/<exhibit_id>", **api.for_viewers(200, exhibits.Exhibit, 404, etag=True))
def get_exhibit(exhibit_id: api.Id, request: api.Request) -> api.Response:
    """Get an exhibit. Its ETag is required to change it."""
    return respond_with_etag(queries.get_exhibit(request.caller, exhibit_id))


@app.get("/exhibits/<exhibit_id>/changes", **api.for_viewers(200, exhibits.ExhibitHistoryPage, 404))
def list_exhibit_changes(exhibit_id: api.Id, request: api.Request, page: api.Changes) -> exhibits.ExhibitHistoryPage:
    """List the changes of an exhibit, newest first. The last one is its creation by an import."""
    return queries.list_changes(request.caller, exhibit_id, page)


@app.get("/exhibits/<exhibit_id>/pages", **api.for_viewers(200, exhibits.ImagePageList, 404))
def list_pages(exhibit_id: api.Id, request: api.Request, page: api.List) -> exhibits.ImagePageList:
    """List the pages of an exhibit, in order."""
    return pages.list_pages(request.caller, exhibit_id, page)


@app.patch("/exhibits/<exhibit_id>", **api.for_editors(200, exhibits.Exhibit, *api.VERSIONED, etag=True))
def change_exhibit(
    exhibit_id: api.Id,
    body: exhibits.ExhibitChange,
    request: api.Request,
    if_match: api.IfMatch = None,
    key: api.OptionalKey = None,
) -> api.Response:
    """Change an exhibit with a JSON merge patch, if If-Match names its current version."""
    versions = parse_if_match(if_match)
    return run_idempotent(request, key, commands.patch_exhibit, exhibit_id, versions, body, options=WITH_ETAG)
