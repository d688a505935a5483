"""Changes that are asked for over HTTP: one effect a key, one creation at a time, and the answer that goes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Protocol, TypeVar

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from core.errors import BusyError, PreconditionMissingError
from core.http_headers import etag, versions
from core.idempotency import Answer, KeyedRequest
from shell.http_problems import JSON
from shell.http_requests import ApiRequest
from shell.outbox_ops import nudge_publisher
from shell.utils.idempotency import once_per_key
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock

M = TypeVar("M", bound=BaseModel)
REPLAYED = "X-Idempotent-Replayed"


class Versioned(Protocol):
    """An answer's body that counts its versions."""

    @property
    def version(self) -> int:
        """Raised by every change."""
        ...

    def model_dump_json(self, *, by_alias: bool) -> str:
        """As JSON."""
        ...


def changed(
    asked: ApiRequest,
    key: str | None,
    effect: Callable[..., M],
    *arguments: object,
    headers: Callable[[M], dict[str, str]] = lambda _made: {},
    show: Callable[[str], BaseModel] | None = None,
    at: str | None = None,
    status: int | None = None,
    creates: bool = False,
    announces: bool = False,
) -> Response[str]:
    """Answer a request whose effect, `effect(transaction, caller, *arguments)`, is made once, however often it comes.

    `show` completes the stored document for each answer, where a part of it must not be kept. With `creates`, a request
    with the very same content under another key gets 409 meanwhile; `at` says so too, and that what was made is found
    there under its id (`status` 201 if it is not given, 200 otherwise). With `announces`, the effect wrote events.
    Raises what `once_per_key` and the effect raise.
    """
    request = asked.keyed(key)

    def made(transaction: Session) -> Answer:
        result = effect(transaction, asked.caller, *arguments)
        document = result.model_dump_json(by_alias=True)
        if at is None:
            return Answer(status or 200, document, headers(result))
        return Answer(status or 201, document, {"Location": f"{at}/{json.loads(document)['id']}", **headers(result)})

    answer = once_per_key(request, made, partial(_one_at_a_time, request) if creates or at else nullcontext)
    if announces:
        nudge_publisher()
    body = show(answer.body).model_dump_json(by_alias=True) if show else answer.body
    replayed = {REPLAYED: "true"} if answer.is_replay else {}
    return Response(answer.status_code, JSON, body, headers={**answer.headers, **replayed})


def shown(versioned: Versioned) -> Response[str]:
    """Something that clients change, with the ETag that a change needs."""
    return Response(200, JSON, versioned.model_dump_json(by_alias=True), headers=etag_of(versioned))


def etag_of(versioned: Versioned) -> dict[str, str]:
    """The header field that says which version it is."""
    return {"ETag": etag(versioned.version)}


def allowed_versions(if_match: str | None) -> frozenset[int]:
    """The versions that may be changed; raises PreconditionMissingError without an If-Match."""
    if if_match is None:
        raise PreconditionMissingError()
    return versions(if_match)


@contextmanager
def _one_at_a_time(request: KeyedRequest) -> Iterator[None]:
    """Of two who ask for the same thing at once, under keys of their own, the second is told to come back.

    Where Redis cannot tell, both get it: what is created twice is what was asked for twice.
    """
    place = hashlib.sha256(f"{request.tenant_id}\0{request.route}".encode()).hexdigest()[:16]
    with with_semaphore_lock(f"{place}:{request.fingerprint.hex()}", namespace="create") as slot:
        if slot.outcome is SemaphoreOutcome.SKIPPED:
            raise BusyError(retry_after_s=slot.retry_after_s)
        yield
