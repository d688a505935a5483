"""One effect a key: a request that is made again has the first one's answer, and no second effect.

Guaranteed: of all requests of one tenant, route and key at most one effect commits, and its answer commits with it;
whoever dies, is delayed or loses a COMMIT's answer on the way. A claim is committed before the effect begins; the
effect commits only under the claim of its own owner and attempt, so that an owner whose lease ran out and was taken
over rolls back. The same key with another fingerprint is refused. What failed, and so had no effect, is not kept: the
key is free again at once, or after the lease where its owner died.
MySQL decides. Redis, where it is configured, holds copies of committed answers, and nothing is concluded from what it
lacks or fails to say. Times are the database's.
Not guaranteed: anything about what an effect does outside of the database.
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
from core.idempotency import Answer, KeyedRequest
from shell.invocation import MARGIN_S, seconds_left
from shell.observability import logger
from shell.utils import answer_cache
from shell.utils.db_helpers import changed_rows, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

LONGEST_LEASE_S = 60.0
RELEASE_S = 1.0
RETRY_AFTER_S = 1

_FREE = (
    "(status = 'released' OR (status = 'in_progress' AND lease_until < NOW(6) AND fingerprint = VALUES(fingerprint)))"
)
# One statement that locks the row at once: a failed INSERT would leave a shared lock, and two that both want to raise
# theirs deadlock. Assignments see those before them, so whoever is the owner by then decides the rest.
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
""")  # noqa: S608 - our own condition
_READ = (
    "SELECT id, fingerprint, status, owner, attempt, status_code, response_headers, response_body, "
    "TIMESTAMPDIFF(SECOND, created_at, NOW(6)) AS age_s FROM idempotency_keys "
)
_BY_KEY = text(f"{_READ} WHERE tenant_id = :tenant_id AND route = :route AND idempotency_key = :key")
_LOCKED_BY_ID = text(f"{_READ} WHERE id = :id FOR UPDATE")
_COMPLETE = text(
    "UPDATE idempotency_keys SET status = 'completed', status_code = :status_code, response_headers = :headers, "
    "response_body = :body WHERE id = :id AND owner = :owner AND attempt = :attempt AND status = 'in_progress'"
)
_RELEASE = text(
    "UPDATE idempotency_keys SET status = 'released' "
    "WHERE id = :id AND owner = :owner AND attempt = :attempt AND status = 'in_progress'"
)

Effect = Callable[[Session], Answer]
Guard = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class _Claim:
    id: int
    owner: bytes
    attempt: int


class _TakenOverError(BusyError):
    """Another attempt of this request has taken over; try again later."""


def once_per_key(request: KeyedRequest, effect: Effect, guard: Guard = nullcontext) -> Answer:
    """The answer of the request's one effect, made now or before.

    `effect` writes in the transaction that it is given and is repeated if that must be replayed; `guard` is entered
    around it, outside of any transaction. Without a key the effect is simply made.
    Raises BusyError while another request has the key, KeyReusedError if the key came with another request, and
    whatever effect and guard raise.
    """
    if request.key is None:
        with guard():
            return _make(effect)
    cached = answer_cache.find(request)
    if cached is not None:
        return cached.as_replay()
    began = time.monotonic()
    claim = _claim(request, secrets.token_bytes(16), _lease_s())
    if isinstance(claim, Answer):
        return claim
    try:
        with guard():
            answer = _perform(claim, effect)
    except CommitOutcomeUnknownError:
        # It may have taken effect: the key stays claimed until the lease is over, and the answer is found then.
        raise
    except BaseException:
        _release(claim)
        raise
    answer_cache.keep(request, answer, age_s=math.ceil(time.monotonic() - began))
    return answer


@retry_on_db_conflict
def _make(effect: Effect) -> Answer:
    with session() as transaction:
        return effect(transaction)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _claim(request: KeyedRequest, owner: bytes, lease_s: float) -> _Claim | Answer:
    """The claim, committed; or the answer that is there. Made again by the same owner, it finds its own claim."""
    place = {"tenant_id": request.tenant_id, "route": request.route, "key": (request.key or "").encode()}
    values = {"fingerprint": request.fingerprint, "owner": owner, "lease": round(lease_s * 1_000_000)}
    with session() as transaction:
        transaction.execute(_CLAIM, {**place, **values})
        row = transaction.execute(_BY_KEY, place).one()
    if bytes(row.fingerprint) != request.fingerprint:
        raise KeyReusedError()
    if row.status == "completed":
        answer = _stored(row)
        answer_cache.keep(request, answer, age_s=row.age_s)
        return answer.as_replay()
    if bytes(row.owner) != owner:
        raise BusyError(retry_after_s=RETRY_AFTER_S)
    return _Claim(row.id, owner, row.attempt)


def _lease_s() -> float:
    """Until this invocation is surely dead."""
    left = seconds_left()
    return LONGEST_LEASE_S if math.isinf(left) else max(left, 0.0) + 2 * MARGIN_S


def _answer_if_committed(claim: _Claim, _effect: Effect) -> Answer | None:
    with session() as locking:
        row = locking.execute(_LOCKED_BY_ID, {"id": claim.id}).one_or_none()
    ours = row is not None and bytes(row.owner) == claim.owner and row.attempt == claim.attempt
    return _stored(row) if row is not None and ours and row.status == "completed" else None


@retry_on_db_conflict(resolve=_answer_if_committed)
def _perform(claim: _Claim, effect: Effect) -> Answer:
    """The effect and its answer in one transaction, last of all under the owner's fence."""
    with session() as transaction:
        answer = effect(transaction)
        transaction.flush()
        completed = transaction.execute(
            _COMPLETE,
            {
                **_fence(claim),
                "status_code": answer.status_code,
                "headers": json.dumps(dict(answer.headers)),
                "body": answer.body,
            },
        )
        if changed_rows(completed) != 1:
            raise _TakenOverError(retry_after_s=RETRY_AFTER_S)
    return answer


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _released(claim: _Claim) -> None:
    with session() as transaction:
        transaction.execute(_RELEASE, _fence(claim))


def _release(claim: _Claim) -> None:
    """After a known rollback the key is free again; if that cannot be written in time, the lease frees it."""
    if seconds_left() < RELEASE_S:
        return
    try:
        _released(claim)
    except Exception as error:
        logger.warning("claim not released; its lease will end it", extra={"error": type(error).__name__})


def _fence(claim: _Claim) -> dict[str, Any]:
    return {"id": claim.id, "owner": claim.owner, "attempt": claim.attempt}


def _stored(row: Any) -> Answer:
    return Answer(row.status_code, row.response_body, json.loads(row.response_headers or "{}"))
