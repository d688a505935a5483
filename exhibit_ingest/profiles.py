"""Mapping profiles of a tenant, through the API of a stack on this machine.

Guaranteed: the profiles are those of the API, with its checks and versions; saving one under a name that exists makes a
new version of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import quote

from core.imports.profile_options import merge_profile
from local.errors import LocalError

_USER = "exhibit-ingest"
# What POST /profiles takes from the import, or does not take: whether files are checked first is not of their kind.
_NOT_OPTIONS = frozenset({"columns", "dry_run", "profile", "user_id", "volume"})


class ProfileStack(Protocol):
    """The part of a stack that profiles need."""

    def request_api(
        self, tenant: str, user: str, method: str, path: str, body: object = None, if_match: str | None = None
    ) -> tuple[int, bytes]:
        """Send a request to the API, as this user, and return status code and body."""


def apply_profile(stack: ProfileStack, tenant: str, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options document of an import with the profile, which the given options override.

    Raises LocalError if the tenant has no profile with this name.
    """
    found = _find(stack, tenant, name)
    if found is None:
        raise LocalError(f"tenant {tenant!r} has no profile {name!r}; import with --save-profile to create one")
    return merge_profile(found["name"], found["version"], _to_document(found["options"]), options)


def save_profile(stack: ProfileStack, tenant: str, name: str, import_id: int, options: Mapping[str, Any]) -> int:
    """Save how the file of an import was read, with the options that were given, and return the profile's version.

    Raises LocalError if the API refuses it.
    """
    own = {_to_camel(key): value for key, value in options.items() if key not in _NOT_OPTIONS}
    body = {"name": name, "importId": import_id, "options": own}
    found = _find(stack, tenant, name)
    if found is None:
        return int(_request(stack, tenant, "POST", "/profiles", body)["version"])
    path, seen = f"/profiles/{found['id']}", f'"{found["version"]}"'
    return int(_request(stack, tenant, "PUT", path, body, seen)["version"])


def _find(stack: ProfileStack, tenant: str, name: str) -> dict[str, Any] | None:
    items = _request(stack, tenant, "GET", f"/profiles?name={quote(name, safe='')}")["items"]
    return next(iter(items), None)


def _request(
    stack: ProfileStack, tenant: str, method: str, path: str, body: object = None, if_match: str | None = None
) -> dict[str, Any]:
    status, raw = stack.request_api(tenant, _USER, method, path, body, if_match)
    document: dict[str, Any] = json.loads(raw or b"{}")
    if status >= HTTPStatus.BAD_REQUEST:
        reasons = [f"{each['location']}: {each['message']}" for each in document.get("errors") or []]
        detail = "; ".join(reasons) or document.get("detail") or f"the API returned {status}"
        raise LocalError(f"the profile cannot be used: {detail}")
    return document


def _to_document(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of the API as an options document."""
    return {_to_snake(name): value for name, value in options.items() if value is not None}


def _to_snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def _to_camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
