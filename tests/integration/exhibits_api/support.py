"""What the tests of exhibits, custodians and taggings do again and again: two callers, requests, replayed units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from core.contracts.common import Caller
from core.contracts.exhibits import TaggingRequest
from shell.utils.db_helpers import retry_on_db_conflict
from shell.utils.db_session import engine
from tests.support.database import transaction

P = ParamSpec("P")
R = TypeVar("R")
CALLER = Caller(tenant_id="tenant", user_id="reviewer")
STRANGER = Caller(tenant_id="other", user_id="reviewer")


@retry_on_db_conflict
def replayed(at: Engine, op: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run the op as a request does: in a transaction of its own, replayed as a whole."""
    with transaction(at) as opened:
        return op(opened, *args, **kwargs)


def done(op: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same on the application's own engine."""
    return replayed(engine(), op, *args, **kwargs)


def tagging(exhibit_ids: list[int], *tags: str) -> TaggingRequest:
    """A request as a client sends it."""
    return TaggingRequest.model_validate({"exhibitIds": exhibit_ids, "tags": list(tags)})
