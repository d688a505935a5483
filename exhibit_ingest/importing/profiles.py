"""Mapping profiles of a tenant.

Guaranteed: the profiles are those of the API, with its checks and versions; saving one under a name that exists makes a
new version of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exhibit_ingest.importing.state import to_camel
from exhibit_ingest.session.pages import build_query

if TYPE_CHECKING:
    from exhibit_ingest.client.api import Api

# What POST /profiles takes from the import, or does not take.
_NOT_OPTIONS = frozenset({"columns", "volume"})


def save_profile(api: Api, name: str, import_id: int, options: Mapping[str, Any]) -> int:
    """Save how the file of an import was read, with the options that were given, and return the profile's version.

    Raises CommandError if the API refuses it.
    """
    own = {to_camel(key): value for key, value in options.items() if key not in _NOT_OPTIONS}
    body = {"name": name, "importId": import_id, "options": own}
    found = api.request("GET", f"/profiles{build_query({'name': name})}")["items"]
    if not found:
        return int(api.request("POST", "/profiles", body)["version"])
    path, seen = f"/profiles/{found[0]['id']}", f'"{found[0]["version"]}"'
    return int(api.request("PUT", path, body, if_match=seen)["version"])
