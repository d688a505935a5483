"""A request that may come more than once, and its one answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace


@dataclass(frozen=True)
class KeyedRequest:
    """A request and the key under which it has one effect; without a key it is only what it is.

    `route` is the method and the route's path; `fingerprint` are 32 bytes that tell the request from any other.
    """

    tenant_id: str
    route: str
    key: str | None
    fingerprint: bytes


@dataclass(frozen=True)
class Answer:
    """What a request is answered: the status, a JSON document, and header fields that may be repeated."""

    status_code: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_replay: bool = False

    def as_replay(self) -> Answer:
        """The answer, given once more."""
        return replace(self, is_replay=True)

    def to_record(self, request: KeyedRequest) -> str:
        """The answer with what says to which request it belongs, as JSON."""
        return json.dumps({"fingerprint": request.fingerprint.hex(), **asdict(self), "is_replay": False})

    @classmethod
    def of_record(cls, record: str | bytes, request: KeyedRequest) -> Answer | None:
        """What `to_record` wrote for this very request; None for anything else."""
        try:
            kept = json.loads(record)
            if kept.pop("fingerprint") != request.fingerprint.hex():
                return None
            return cls(int(kept["status_code"]), str(kept["body"]), dict(kept["headers"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
