"""The routes by which a user takes an import or a volume from its upload to its end, step by step.

A handler adds them to its application with `add_routes`.
"""

from __future__ import annotations

from core.contracts.imports.checks import RunRequest
from core.contracts.imports.options import NewOptions
from core.contracts.imports.states import ImportState
from core.contracts.volumes import VolumeDetails
from shell.api import app as api
from shell.api.mutations import STARTS_IMPORTS, parse_if_match, parse_if_sent, run_idempotent
from shell.api.resolver import ApiResolver
from shell.imports import steps as operations
from shell.volumes import runs


def add_routes(app: ApiResolver) -> None:
    """Add the routes to an application."""
    of_import = api.for_editors(200, ImportState, *api.VERSIONED)
    app.put("/imports/<import_id>/options", **of_import)(change_options)
    app.post("/imports/<import_id>/check", **of_import)(check_import)
    app.post("/imports/<import_id>/run", **of_import)(run_import)
    app.post("/volumes/<volume_id>/run", **api.for_editors(200, VolumeDetails, *api.VERSIONED))(run_volume)


def change_options(
    import_id: api.Id, body: NewOptions, request: api.Request, if_match: api.IfMatch = None, key: api.OptionalKey = None
) -> api.Response:
    """Replace the options of an import that awaits its file, is held or checked, or was not read; it is then held."""
    return run_idempotent(request, key, operations.change_options, import_id, parse_if_match(if_match), body)


def check_import(import_id: api.Id, request: api.Request, key: api.Key, if_match: api.IfSeen = None) -> api.Response:
    """Check the file of an import that is held or was checked, or have it checked once it is uploaded."""
    versions = parse_if_sent(if_match)
    return run_idempotent(request, key, operations.check_import, import_id, versions, options=STARTS_IMPORTS)


def run_import(
    import_id: api.Id, body: RunRequest, request: api.Request, key: api.Key, if_match: api.IfSeen = None
) -> api.Response:
    """Import the file of an import that is held or was checked, or have it imported once it is uploaded."""
    versions = parse_if_sent(if_match)
    return run_idempotent(request, key, operations.run_import, import_id, body, versions, options=STARTS_IMPORTS)


def run_volume(
    volume_id: api.Id, body: RunRequest, request: api.Request, key: api.Key, if_match: api.IfSeen = None
) -> api.Response:
    """Import the load files of a volume that are held or were checked: the data file, then its images."""
    versions = parse_if_sent(if_match)
    return run_idempotent(request, key, runs.run_volume, volume_id, body, versions, options=STARTS_IMPORTS)
