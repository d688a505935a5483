"""Parse the routes of the HTTP API from HttpApi events.

Pure. A route without authorization that is not the console's, or a property that the local stack does not support,
raises TemplateError.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from local.errors import TemplateError
from local.template.intrinsics import get_referenced_id
from local.template.model import ApiRoute

_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_KNOWN = {"ApiId", "Method", "Path", "Auth"}
_PATH = re.compile(r"(/([\w.~-]+|\{\w+\}))+(/|/\{\w+\+\})?")
_OPEN, _CONSOLE = {"Authorizer": "NONE"}, re.compile(r"GET /console(/.*)?")


def parse_api_route(function: str, label: str, properties: Mapping[str, Any], apis: Iterable[str]) -> ApiRoute:
    """Return the route of a function's HttpApi event; `apis` are the logical ids of the template's HTTP APIs.

    Raises TemplateError for a property, method or path that the local stack does not support.
    """
    unknown = sorted(properties.keys() - _KNOWN)
    if unknown:
        raise TemplateError(f"{label}: the local stack does not support {unknown[0]}")
    if "ApiId" not in properties:
        raise TemplateError(
            f"{label} has no ApiId: SAM would create a separate API for it, open to the public. Add ApiId"
        )
    if (api := get_referenced_id(properties["ApiId"])) not in apis:
        raise TemplateError(f"{label}: {api} is not an HTTP API of this template")
    method, path = str(properties.get("Method")).upper(), str(properties.get("Path"))
    if method not in _METHODS:
        raise TemplateError(f"{label}: the local stack does not support Method {method}")
    if not _PATH.fullmatch(path):
        raise TemplateError(f"{label}: the local stack does not support Path {path}")
    auth = properties.get("Auth")
    if auth is not None and not (auth == _OPEN and _CONSOLE.fullmatch(f"{method} {path}")):
        raise TemplateError(f"{label}: the local stack does not support Auth {auth}, which only the console may have")
    return ApiRoute(function, method, path, is_open=auth == _OPEN)
