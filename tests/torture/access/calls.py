"""Requests by their places, their answers, and uploads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from local.gateway.events import HttpRequest
from local.gateway.server import ApiGateway
from shell.aws import clients
from tests.support.api.client import TOKENS, gateway
from tests.support.application.driver import World

# Every response has its own, whatever the request.
_OWN_HEADERS = {"apigw-requestid", "content-length", "date", "server", "connection"}
Value = Any


# Members of bodies whose places are those of the objects in an array.
_ARRAYS = frozenset({"rows"})


@dataclass(frozen=True)
class ApiRequest:
    """A request by its route and its places; `in_list`: the body is a list of one."""

    route: str
    values: Mapping[str, Value]
    in_list: bool = False

    def with_values(self, values: Mapping[str, Value]) -> ApiRequest:
        """The same with other values at some places."""
        return replace(self, values={**self.values, **values})

    @property
    def method(self) -> str:
        """GET and so on."""
        return self.route.partition(" ")[0]

    def of(self, where: str) -> dict[str, Value]:
        """The values of a part of the request, by their names."""
        return {name.partition(":")[2]: value for name, value in self.values.items() if name.startswith(f"{where}:")}

    @property
    def path(self) -> str:
        """The path, percent-encoded."""
        given = self.of("path")
        return re.sub(r"{(\w+)}", lambda found: quote(str(given[found[1]]), safe=""), self.route.partition(" ")[2])

    @property
    def query(self) -> str:
        """What follows the question mark."""
        return urlencode(self.of("query"))

    @property
    def body(self) -> bytes:
        """The body as JSON; empty where the route takes none."""
        nested: dict[str, Any] = {}
        for name, value in self.of("body").items():
            *outer, last = name.split(".")
            at = nested
            for each in outer:
                at = at.setdefault(each, {})
            at[last] = value
        nested = {name: [each] if name in _ARRAYS and isinstance(each, dict) else each for name, each in nested.items()}
        return json.dumps([nested] if self.in_list else nested).encode() if nested else b""

    def headers(self, authorizations: Sequence[str]) -> list[tuple[str, str]]:
        """All header fields, in order."""
        fields = [("host", "api.test"), *(("authorization", each) for each in authorizations)]
        fields += [("content-type", "application/json")] if self.body else []
        return fields + [(name.lower(), str(value)) for name, value in self.of("header").items()]


@dataclass(frozen=True)
class ApiResponse:
    """An answer, without what no two answers share."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(default=())
    text: str = ""

    @classmethod
    def of(cls, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ApiResponse:
        """An answer as it came."""
        kept = sorted((name.lower(), value) for name, value in headers if name.lower() not in _OWN_HEADERS)
        return cls(status, tuple(kept), body.decode())

    @property
    def json(self) -> Any:
        """The body; None where there is none."""
        return json.loads(self.text) if self.text else None


def send_as(request: ApiRequest, tenant: str, user: str) -> ApiResponse:
    """Make a request under a token of the tenant, of the handlers of this process."""
    return send_through(gateway(), request, [f"Bearer {TOKENS.issue(tenant, user)}"])


def send_through(api: ApiGateway, request: ApiRequest, authorizations: Sequence[str]) -> ApiResponse:
    """A gateway's answer, without a socket."""
    fields = request.headers(authorizations)
    found = api.handle(HttpRequest(request.method, request.path, request.query, fields, request.body, "127.0.0.1"))
    return ApiResponse.of(found.status, found.headers, found.body)


def put(world: World, key: str, data: bytes) -> None:
    """Put an object, and have everything done that follows from it."""
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=data)
    world.finish(world.notification_of(key))
