"""A request with an idempotency key, and the one response that is stored for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace


@dataclass(frozen=True)
class KeyedRequest:
    """A request and the key under which it has one effect; without a key, it is executed every time.

    `route` is the method and the path pattern. `fingerprint` is a hash of 32 bytes that identifies the request.
    """

    tenant_id: str
    route: str
    key: str | None
    fingerprint: bytes


@dataclass(frozen=True)
class KeyedResponse:
    """The response to a request: the status, a JSON document, and the headers that a replay repeats."""

    status_code: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_replay: bool = False

    def as_replay(self) -> KeyedResponse:
        """Return this response, marked as a replay."""
        return replace(self, is_replay=True)

    def to_record(self, request: KeyedRequest) -> str:
        """Return the response as JSON, with the fingerprint of its request."""
        return json.dumps({"fingerprint": request.fingerprint.hex(), **asdict(self), "is_replay": False})

    @classmethod
    def from_record(cls, record: str | bytes, request: KeyedRequest) -> KeyedResponse | None:
        """Return the response that `to_record` stored for the same request, or None for any other record."""
        try:
            values = json.loads(record)
            if values.pop("fingerprint") != request.fingerprint.hex():
                return None
            return cls(int(values["status_code"]), str(values["body"]), dict(values["headers"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
