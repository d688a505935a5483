"""The HTTP API with its handlers in this process: API Gateway's events, real tokens, a real database."""

from __future__ import annotations

import importlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from local.gateway.events import HttpRequest
from local.gateway.server import ApiGateway
from local.gateway.tokens import Tokens
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from tests.support.application.driver import Context

TOKENS = Tokens("a secret of the tests, which is used nowhere else")


@dataclass(frozen=True)
class Reply:
    """What came back; `json` is None for an empty body."""

    status: int
    headers: Mapping[str, str]
    json: Any

    @property
    def problem(self) -> str:
        """The name of the problem; empty where there is none."""
        return str(self.json.get("type", "")).rpartition(":")[2] if isinstance(self.json, dict) else ""

    @property
    def is_replay(self) -> bool:
        """Whether it is an answer that was given before."""
        return self.headers.get("x-idempotent-replayed") == "true"


@lru_cache(maxsize=1)
def template() -> Template:
    """The application's template."""
    return Template.load(DEFAULT_TEMPLATE)


def invoke(function: str, event: dict[str, Any]) -> Any:
    """Call a function's handler, given by its logical id, as Lambda does."""
    module, _, name = template().functions[function].handler.rpartition(".")
    return getattr(importlib.import_module(module), name)(event, Context())


def gateway() -> ApiGateway:
    """The application's routes before the handlers of this process."""
    return ApiGateway(template().routes, invoke, TOKENS)


@dataclass(frozen=True)
class Client:
    """A caller of the API."""

    tenant: str = "acme"
    user: str = "ada"
    name: str | None = None
    cases: tuple[str, ...] | None = None

    def get(self, path: str) -> Reply:
        """GET."""
        return self.call("GET", path)

    def post(self, path: str, body: Any = None, key: str | None = None, **headers: str) -> Reply:
        """POST, under a new Idempotency-Key unless one is given."""
        return self.call("POST", path, body, **{"Idempotency-Key": key or secrets.token_hex(8), **headers})

    def patch(self, path: str, body: Any, version: int | None, **headers: str) -> Reply:
        """PATCH what is still of that version."""
        if_match = {} if version is None else {"If-Match": f'"{version}"'}
        return self.call("PATCH", path, body, **{**if_match, **headers})

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Any request; a body that is no bytes is sent as JSON."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        place, _, query = path.partition("?")
        sent = {
            "host": "api.test",
            "authorization": f"Bearer {TOKENS.issue(self.tenant, self.user, cases=self.cases, name=self.name)}",
            **({"content-type": "application/json"} if raw else {}),
            **headers,
        }
        answer = gateway().handle(HttpRequest(method, place, query, list(sent.items()), raw, "127.0.0.1"))
        text = answer.body.decode()
        return Reply(answer.status, {k.lower(): v for k, v in answer.headers}, json.loads(text) if text else None)
