"""Conditional polls: a response with a weak ETag, or 304 for a client that has it.

Guaranteed: two responses have the same tag only if they are equal but for estimates of the time that is left. The tag
is weak for that reason (RFC 9110, section 8.8.1). What a poll costs the database is the same; it saves bytes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header
from pydantic import BaseModel

from core.http_headers import matches_etag
from shell.api.problems import JSON

IfNoneMatch = Annotated[
    str | None,
    Header(alias="If-None-Match", description="Optional: the ETag of the last response; 304 if it is still the same."),
]
_ESTIMATES = ("rowsPerSecond", "secondsLeft")


def respond_to_poll(if_none_match: str | None, model: BaseModel) -> Response[str]:
    """Return the model with its tag, or 304 without a body."""
    body = model.model_dump_json(by_alias=True)
    etag = _build_tag(json.loads(body))
    if matches_etag(if_none_match, etag):
        return Response(304, JSON, "", headers={"ETag": etag})
    return Response(200, JSON, body, headers={"ETag": etag})


def _build_tag(document: dict[str, Any]) -> str:
    hashed = json.dumps({name: value for name, value in document.items() if name not in _ESTIMATES})
    return f'W/"{hashlib.sha256(hashed.encode()).hexdigest()[:32]}"'
