"""Idempotency keys: a repeated request returns the first one's response and has no second effect.

Guaranteed: of all requests with the same tenant, route and key, at most one effect commits, and its response commits
with it, even if a worker dies, is delayed or loses the answer to its COMMIT. A claim is committed before the effect
begins; the effect commits only under the claim of its own owner and attempt, so that an owner whose lease expired and
was taken over rolls back. The same key with another fingerprint is refused. A failed request has no effect and is not
kept: its key is free at once, or after the lease if its owner died.
MySQL decides. Redis, where configured, caches committed responses; a cache miss or a Redis failure does not affect
correctness. All timestamps come from the database's clock.
Not guaranteed: anything about an effect outside of the database.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import BusyError, CommitOutcomeUnknownError, KeyReusedError
from core.idempotency import KeyedRequest, KeyedResponse
from shell.db.session import session
from shell.deadline import MARGIN_S, seconds_left
from shell.observability import logger
from shell.utils import response_cache
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

LONGEST_LEASE_S = 60.0
RELEASE_S = 1.0
RETRY_AFTER_S = 1

_FREE = (
    "(status = 'released' OR (status = 'in_progress' AND lease_until < NOW(6) AND fingerprint = VALUES(fingerprint)))"
)
# One statement that locks the row exclusively: a failed INSERT would leave a shared lock, and two transactions that
# upgrade theirs deadlock. Assignments see earlier ones, so the owner that the second one sets decides the rest.
_CLAIM = text(f"""
    INSERT INTO idempotency_keys
      (tenant_id, route, idempotency_key, fingerprint, status, owner, attempt, lease_until)
    VALUES
      (:tenant_id, :route, :key, :fingerprint, 'in_progress', :owner, 1, NOW(6) + INTERVAL :lease MICROSECOND)
    ON DUPLICATE KEY UPDATE
      attempt = IF({_FREE}, attempt + 1, attempt),
      owner = IF({_FREE}, VALUES(owner), owner),
      status = IF(owner = VALUES(owner), VALUES(status), status),
      fingerprint = IF(owner = VALUES(owner), VALUES(fingerprint), fingerprint),
      lease_until = IF(owner = VALUES(owner), VALUES(lease_until), lease_until),
      created_at = IF(owner = VALUES(owner), NOW(6), created_at)
""")  # noqa: S608 - a constant condition
_READ = (
    "SELECT id, fingerprint, status, owner, attempt, status_code, response_headers, response_body, "
    "TIMESTAMPDIFF(SECOND, created_at, NOW(6)) AS age_s, TIMESTAMPDIFF(SECOND, NOW(6), lease_until) AS lease_left_s "
    "FROM idempotency_keys "
)
# The claim holds the lock already. A read without it may not see a row whose COMMIT, by another owner, has let go of
# the row and is not yet visible to new reads.
_BY_KEY = text(f"{_READ} WHERE tenant_id = :tenant_id AND route = :route AND idempotency_key = :key FOR UPDATE")
_LOCKED_BY_ID = text(f"{_READ} WHERE id = :id FOR UPDATE")
_COMPLETE = text(
    "UPDATE idempotency_keys SET status = 'completed', status_code = :status_code, response_headers = :headers, "
    "response_body = :body, case_id = :case_id "
    "WHERE id = :id AND owner = :owner AND attempt = :attempt AND status = 'in_progress'"
)
_RELEASE = text(
    "UPDATE idempotency_keys SET status = 'released' "
    "WHERE id = :id AND owner = :owner AND attempt = :attempt AND status = 'in_progress'"
)

_CASE = "idempotency.case_id"

Effect = Callable[[Session], KeyedResponse]
Guard = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class _Claim:
    id: int
    owner: bytes
    attempt: int


class _TakenOverError(BusyError):
    """Another attempt of this request has taken over; try again later."""


def keep_case(transaction: Session, case_id: int) -> None:
    """Note whose case the response tells of, so that a purge of the case finds it."""
    transaction.info[_CASE] = case_id


def once_per_key(request: KeyedRequest, effect: Effect, guard: Guard = nullcontext) -> KeyedResponse:
    """Run the effect once for the request's key; return its response, now or from an earlier request.

    `effect` writes in the transaction that it receives, and runs again if that transaction is retried; `guard` is
    entered around it, outside of any transaction. Without a key the effect simply runs.
    Raises BusyError while another request holds the key, with the rest of its lease once it is older than a second,
    KeyReusedError if the key was used with another request, and
    whatever effect and guard raise.
    """
    if request.key is None:
        with guard():
            return _run_without_key(effect)
    cached = response_cache.find(request)
    if cached is not None:
        return cached.as_replay()
    began = time.monotonic()
    claim = _claim(request, secrets.token_bytes(16), _lease_s())
    if isinstance(claim, KeyedResponse):
        return claim
    try:
        with guard():
            response = _run_under_claim(claim, effect)
    except CommitOutcomeUnknownError:
        # It may have taken effect: the key stays claimed until the lease expires, and then the response is found.
        raise
    except BaseException:
        _release(claim)
        raise
    response_cache.store(request, response, age_s=math.ceil(time.monotonic() - began))
    return response


@retry_on_db_conflict
def _run_without_key(effect: Effect) -> KeyedResponse:
    with session() as transaction:
        return effect(transaction)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _claim(request: KeyedRequest, owner: bytes, lease_s: float) -> _Claim | KeyedResponse:
    """Commit a claim and return it, or return the stored response; idempotent for the same owner.

    Raises KeyReusedError for another fingerprint, and BusyError while another owner's lease lasts.
    """
    place = {"tenant_id": request.tenant_id, "route": request.route, "key": (request.key or "").encode()}
    values = {"fingerprint": request.fingerprint, "owner": owner, "lease": round(lease_s * 1_000_000)}
    with session() as transaction:
        transaction.execute(_CLAIM, {**place, **values})
        row = transaction.execute(_BY_KEY, place).one()
    if bytes(row.fingerprint) != request.fingerprint:
        raise KeyReusedError()
    if row.status == "completed":
        response = _parse_response(row)
        response_cache.store(request, response, age_s=row.age_s)
        return response.as_replay()
    if bytes(row.owner) != owner:
        raise BusyError(retry_after_s=_retry_after_s(row))
    return _Claim(row.id, owner, row.attempt)


def _retry_after_s(row: Any) -> int:
    """Return when to ask again for a key that another owner has claimed.

    In a claim's first second that is soon, because nearly every request ends in it. An older claim may be of an owner
    that died, whose key is free for certain when its lease has ended.
    """
    return RETRY_AFTER_S if row.age_s < 1 else max(int(row.lease_left_s) + 1, RETRY_AFTER_S)


def _lease_s() -> float:
    """Return the seconds until this invocation has certainly ended."""
    left = seconds_left()
    return LONGEST_LEASE_S if math.isinf(left) else max(left, 0.0) + 2 * MARGIN_S


def _find_response(claim: _Claim, _effect: Effect) -> KeyedResponse | None:
    with session() as locking:
        row = locking.execute(_LOCKED_BY_ID, {"id": claim.id}).one_or_none()
    is_own = row is not None and bytes(row.owner) == claim.owner and row.attempt == claim.attempt
    return _parse_response(row) if row is not None and is_own and row.status == "completed" else None


@retry_on_db_conflict(resolve=_find_response)
def _run_under_claim(claim: _Claim, effect: Effect) -> KeyedResponse:
    """Run the effect and store its response in one transaction; the fence is the last statement.

    Raises BusyError if another attempt has taken the claim over.
    """
    with session() as transaction:
        response = effect(transaction)
        transaction.flush()
        completed = transaction.execute(
            _COMPLETE,
            {
                **_fence(claim),
                "status_code": response.status_code,
                "headers": json.dumps(dict(response.headers)),
                "body": response.body,
                "case_id": transaction.info.get(_CASE),
            },
        )
        if count_changed_rows(completed) != 1:
            raise _TakenOverError(retry_after_s=RETRY_AFTER_S)
    return response


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _free_key(claim: _Claim) -> None:
    with session() as transaction:
        transaction.execute(_RELEASE, _fence(claim))


def _release(claim: _Claim) -> None:
    """Free the key after a known rollback; if that fails or time is short, the lease frees it."""
    if seconds_left() < RELEASE_S:
        return
    try:
        _free_key(claim)
    except Exception as error:
        logger.warning("claim not released; its lease will expire", extra={"error": type(error).__name__})


def _fence(claim: _Claim) -> dict[str, Any]:
    return {"id": claim.id, "owner": claim.owner, "attempt": claim.attempt}


def _parse_response(row: Any) -> KeyedResponse:
    return KeyedResponse(row.status_code, row.response_body, json.loads(row.response_headers or "{}"))
