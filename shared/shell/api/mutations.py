"""Requests that change data: one effect for each key, one creation at a time, and the response.

Guaranteed: a request with a key takes effect once (`once_per_key`), and commits only with its activity
(`shell.activity_log`). It commits only if the tenant may write at its commit: the tenant's row is locked, first of all.
Not guaranteed: that identical requests under different keys take effect one at a time while Redis is unavailable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from core.errors import BusyError, PreconditionMissingError
from core.http_headers import format_etag, parse_versions
from core.idempotency import KeyedRequest, KeyedResponse
from shell.activity_log import require_recorded
from shell.api.problems import JSON
from shell.api.requests import ApiRequest
from shell.outbox.writer import wake_relay
from shell.tenants.first_use import require_tenant
from shell.tenants.records import lock_counted_tenant, share_tenant
from shell.tenants.starts import counting_starts
from shell.utils.idempotency import once_per_key
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock
from shell.utils.user_names import store_user_name

REPLAYED = "X-Idempotent-Replayed"


class Versioned(Protocol):
    """A response body with a version."""

    @property
    def version(self) -> int:
        """The version, which rises with every change."""
        ...

    def model_dump_json(self, *, by_alias: bool) -> str:
        """Return the model as JSON."""
        ...


@dataclass(frozen=True)
class ResponseOptions:
    """How the result of an effect becomes a response.

    `status` is 201 by default if `location` is set, else 200. `location` is the path of the collection to which a new
    object belongs; the response names the object's own path. With `etag`, the response has the version of the result.
    `complete` adds to the stored document what must not be stored, such as a presigned URL. With `one_at_a_time`, which
    `location` implies, an identical request under another key gets 409 while this one is in progress. With
    `writes_events`, the outbox relay is woken. `choose_status` returns the status for a result. `check` runs before the
    effect, outside of any transaction, and raises to refuse the request; a repeated request is not checked again. With
    `starts_imports`, the effect is counted against the tenant's limit of imports under way.
    """

    status: int | None = None
    location: str | None = None
    etag: bool = False
    complete: Callable[[str], BaseModel] | None = None
    one_at_a_time: bool = False
    writes_events: bool = False
    choose_status: Callable[[Any], int] | None = None
    check: Callable[[], None] | None = None
    starts_imports: bool = False

    def of_result(self, result: BaseModel) -> KeyedResponse:
        """Return the response to store under the request's key."""
        document = result.model_dump_json(by_alias=True)
        if self.choose_status is not None:
            return KeyedResponse(self.choose_status(result), document, {})
        headers = build_etag_header(cast("Versioned", result)) if self.etag else {}
        if self.location is None:
            return KeyedResponse(self.status or 200, document, headers)
        headers = {"Location": f"{self.location}/{json.loads(document)['id']}", **headers}
        return KeyedResponse(self.status or 201, document, headers)

    @contextmanager
    def guard(self, request: KeyedRequest) -> Iterator[None]:
        """Exclude an identical request, if this is required, and check the request first."""
        with _one_at_a_time(request) if self.one_at_a_time or self.location else nullcontext():
            if self.check is not None:
                self.check()
            yield


CREATED = ResponseOptions(status=201)
WITH_ETAG = ResponseOptions(etag=True)
ONE_AT_A_TIME = ResponseOptions(one_at_a_time=True)
WRITES_EVENTS = ResponseOptions(writes_events=True)
STARTS_VOLUME = ResponseOptions(starts_imports=True)
STARTS_IMPORTS = ResponseOptions(writes_events=True, starts_imports=True)


def run_idempotent(
    request: ApiRequest,
    key: str | None,
    effect: Callable[..., BaseModel],
    *arguments: object,
    options: ResponseOptions = ResponseOptions(),
) -> Response[str]:
    """Run `effect(transaction, caller, *arguments)` once for the key, however often it is sent; return the response.

    The name of the user is stored before, if it is new. Raises what `once_per_key` and the effect raise,
    TenantRefusedError if the tenant may not write, LimitReachedError, and RuntimeError if the effect recorded no
    activity.
    """
    keyed = request.keyed(key)
    require_tenant(request.caller.tenant_id).require(writes=True)
    store_user_name(request.caller)

    def run(transaction: Session) -> KeyedResponse:
        with _writing(transaction, request.caller.tenant_id, starts_imports=options.starts_imports):
            result = effect(transaction, request.caller, *arguments)
        require_recorded(transaction)
        return options.of_result(result)

    response = once_per_key(keyed, run, partial(options.guard, keyed))
    if options.writes_events:
        wake_relay()
    body = options.complete(response.body).model_dump_json(by_alias=True) if options.complete else response.body
    replayed = {REPLAYED: "true"} if response.is_replay else {}
    return Response(response.status_code, JSON, body, headers={**response.headers, **replayed})


@contextmanager
def _writing(transaction: Session, tenant_id: str, *, starts_imports: bool) -> Iterator[None]:
    """Lock the tenant's row for the block and the commit; raise TenantRefusedError if the tenant may not write."""
    tenant = lock_counted_tenant(transaction, tenant_id) if starts_imports else share_tenant(transaction, tenant_id)
    tenant.require(writes=True)
    with counting_starts(transaction, tenant) if starts_imports else nullcontext():
        yield


def respond_with_etag(versioned: Versioned) -> Response[str]:
    """Return a response with a versioned object and its ETag."""
    return Response(200, JSON, versioned.model_dump_json(by_alias=True), headers=build_etag_header(versioned))


def build_etag_header(versioned: Versioned) -> dict[str, str]:
    """Return the ETag header of a versioned object."""
    return {"ETag": format_etag(versioned.version)}


def parse_if_match(if_match: str | None) -> Container[int]:
    """Return the versions that the header allows. Raises PreconditionMissingError if the header is missing."""
    if if_match is None:
        raise PreconditionMissingError()
    return parse_versions(if_match)


def parse_if_sent(if_match: str | None) -> Container[int] | None:
    """Return the versions that the header allows, None without the header."""
    return None if if_match is None else parse_versions(if_match)


@contextmanager
def _one_at_a_time(request: KeyedRequest) -> Iterator[None]:
    """Raise BusyError while an identical request under another key is in progress.

    Without an answer from Redis both requests run, and each creates an object of its own.
    """
    route = hashlib.sha256(f"{request.tenant_id}\0{request.route}".encode()).hexdigest()[:16]
    with with_semaphore_lock(f"{route}:{request.fingerprint.hex()}", namespace="create") as slot:
        if slot.outcome is SemaphoreOutcome.SKIPPED:
            raise BusyError(retry_after_s=slot.retry_after_s)
        yield
