"""The routes by which a case is renamed, closed, reopened, held, and requested to be purged, and its certificate.

A handler adds them to its application with `add_case_routes`.
"""

from __future__ import annotations

from core.contracts.cases import CaseChange, CaseSummary, PurgeRequest
from shell.api import app as api
from shell.api.mutations import WITH_ETAG, parse_if_match, run_idempotent
from shell.api.resolver import ApiResolver
from shell.cases import commands
from shell.purges.certificates import Certificate, read_certificate


def add_case_routes(app: ApiResolver) -> None:
    """Add the routes to an application."""
    app.patch("/cases/<case_id>", **api.for_admins(200, CaseSummary, *api.VERSIONED, etag=True))(change_case)
    of_purge = api.for_admins(200, CaseSummary, 404, 409, 422, etag=True)
    app.post("/cases/<case_id>/purge", **of_purge)(request_purge)
    app.delete("/cases/<case_id>/purge", **of_purge)(withdraw_purge)
    app.get("/cases/<case_id>/certificate", **api.for_viewers(200, Certificate, 404))(get_certificate)


def change_case(
    case_id: api.Id, body: CaseChange, request: api.Request, if_match: api.IfMatch = None, key: api.OptionalKey = None
) -> api.Response:
    """Rename, close, reopen or hold a case, if If-Match names its current version."""
    versions = parse_if_match(if_match)
    return run_idempotent(request, key, commands.patch_case, case_id, versions, body, options=WITH_ETAG)


def request_purge(case_id: api.Id, body: PurgeRequest, request: api.Request, key: api.Key) -> api.Response:
    """Close a case and have everything of it deleted for good, from a day on."""
    return run_idempotent(request, key, commands.request_purge, case_id, body, options=WITH_ETAG)


def withdraw_purge(case_id: api.Id, request: api.Request, key: api.OptionalKey = None) -> api.Response:
    """Withdraw the requested purge of a case before it begins. The case stays closed."""
    return run_idempotent(request, key, commands.withdraw_purge, case_id, options=WITH_ETAG)


def get_certificate(case_id: api.Id, request: api.Request) -> Certificate:
    """Get what the purge of a case has destroyed and what remains; final once `endedAt` is set."""
    return read_certificate(request.caller, case_id)
