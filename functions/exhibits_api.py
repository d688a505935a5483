"""API Gateway: find and correct exhibits, say who held them, tag them."""

from __future__ import annotations

from core.contracts import exhibits as its
from shell import exhibit_change_ops, exhibit_query_ops
from shell import http_api as api
from shell.request_ops import allowed_versions, changed, etag_of, shown

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/exhibits", responses=api.answers(200, its.ExhibitPage, 404))
def list_exhibits(asked: api.Asked, which: api.WhichExhibits) -> its.ExhibitPage:
    """List a case's exhibits in the order of their control numbers."""
    return exhibit_query_ops.list_exhibits(asked.caller, **which.model_dump())


@app.get("/exhibits/<exhibit_id>", responses=api.answers(200, its.Exhibit, 404, etag=True))
def get_exhibit(exhibit_id: api.PathId, asked: api.Asked) -> api.Answered:
    """Show an exhibit; its ETag is what a change needs."""
    return shown(exhibit_query_ops.get_exhibit(asked.caller, exhibit_id))


@app.patch("/exhibits/<exhibit_id>", responses=api.answers(200, its.Exhibit, *api.VERSIONED, etag=True))
def change_exhibit(
    exhibit_id: api.PathId,
    body: its.ExhibitChange,
    asked: api.Asked,
    if_match: api.IfMatch = None,
    key: api.MaybeKey = None,
) -> api.Answered:
    """Correct an exhibit, as a JSON merge patch, if it is still the version that If-Match names."""
    versions = allowed_versions(if_match)
    return changed(asked, key, exhibit_change_ops.patch_exhibit, exhibit_id, versions, body, headers=etag_of)


@app.post("/exhibits/<exhibit_id>/custodians", responses=api.answers(200, its.ExhibitCustodians, 404, 409, 422))
def add_custodians(exhibit_id: api.PathId, body: its.NewCustodians, asked: api.Asked, key: api.Key) -> api.Answered:
    """Say who held an exhibit; who is named already stays."""
    return changed(asked, key, exhibit_change_ops.add_custodians, exhibit_id, body.custodians, creates=True)


@app.post("/taggings", responses=api.answers(200, its.TaggingsMade, 404, 409, 422))
def add_taggings(body: its.TaggingRequest, asked: api.Asked, key: api.Key) -> api.Answered:
    """Give every one of the exhibits every one of the tags; taggings that exist stay as they are."""
    return changed(asked, key, exhibit_change_ops.add_taggings, body, creates=True)


@app.delete("/taggings", responses=api.answers(200, its.TaggingsRemoved, 404, 409, 422))
def remove_taggings(body: its.TaggingRequest, asked: api.Asked, key: api.MaybeKey = None) -> api.Answered:
    """Take every one of the tags from every one of the exhibits."""
    return changed(asked, key, exhibit_change_ops.remove_taggings, body)
