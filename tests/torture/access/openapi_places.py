"""Read what docs/openapi.json lets a request contain, place by place: `path:importId`, `query:after`, `body:query.tag`.

Nothing is typed here, so that a route or a member which is added later is tested too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from local.stack.options import REPOSITORY

PATH = REPOSITORY / "docs" / "openapi.json"


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return dict(json.loads(PATH.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def places() -> dict[str, frozenset[str]]:
    """The places of every route, by `GET /imports/{importId}`."""
    return {
        f"{method.upper()} {path}": frozenset(_places(operation))
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
    }


def _places(operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", []):
        yield f"{parameter['in']}:{parameter['name']}"
    content = operation.get("requestBody", {}).get("content", {})
    if content:
        yield from (f"body:{leaf}" for leaf in _leaves(content["application/json"]["schema"], ""))


def _leaves(schema: Mapping[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from _leaves(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]], at)
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            if each.get("type") != "null":
                yield from _leaves(each, at)
    elif schema.get("type") == "array":
        yield from _leaves(schema["items"], at)
    elif "properties" in schema:
        for name, each in schema["properties"].items():
            yield from _leaves(each, f"{at}.{name}".removeprefix("."))
    else:
        yield at
