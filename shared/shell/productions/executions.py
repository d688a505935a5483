"""Starting executions of productions, and starting anew where one ended without an end of its production.

Guaranteed: however often a production's request is delivered, one execution of its generation runs: its name, which
Lambda has once, is made of the production's id, the moment at which it was asked for, and the generation. A further
generation begins only once Lambda says that the last execution has ended. What was asked for RESUMED_AT_MOST times
without an end of the production needs somebody's attention.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast

from botocore.exceptions import BotoCoreError, ClientError
from sqlalchemy import func, text

from core.errors import FunctionUnavailableError, NotFoundError, UnavailableError
from core.events import production_requested
from shell.invocation import log_failure
from shell.observability import logger
from shell.outbox_ops import append_events, nudge_publisher
from shell.production_state_ops import locked, need_attention
from shell.settings import settings
from shell.tables.productions import Productions
from shell.utils.aws import functions
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

# Longer than an invocation may take, and than any wait between two.
QUIET_FOR = timedelta(minutes=20)
BATCH = 100
RESUMED_AT_MOST = 10
_GONE = "ResourceNotFoundException"
_UNDER_WAY = "RUNNING"
_QUIET = text(
    "SELECT id FROM productions WHERE is_open = 1 AND updated_at < NOW(6) - INTERVAL :quiet SECOND "
    "ORDER BY updated_at LIMIT :most"
)


def start_production(message: Mapping[str, Any]) -> None:
    """Start the execution that a `production.requested` message asks for, unless it has been started.

    Raises FunctionUnavailableError for the message to come again.
    """
    production_id, generation = int(message["productionId"]), int(message["generation"])
    name = _name(production_id, generation)
    if name is None:
        return
    payload = json.dumps({"productionId": production_id, "generation": generation})
    request = {"DurableExecutionName": name, "InvocationType": "Event", "Payload": payload.encode()}
    with _lambda_errors():
        answer = functions().invoke(FunctionName=settings().produce_function_arn, **cast("Any", request))
    _keep_execution(production_id, generation, str(answer.get("DurableExecutionArn") or "") or None)
    logger.info("production started", extra={"production_id": production_id, "generation": generation})


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _name(production_id: int, generation: int) -> str | None:
    """What the execution is to be called; None for a late message: it has ended, or is another execution's work.

    By the id alone, two databases behind one function (a restored one, say) would take each other's names.
    """
    with session() as reading:
        production = reading.get(Productions, production_id)
    if production is None or not production.is_open or production.generation != generation:
        return None
    return f"{production_id}-{production.created_at:%Y%m%d%H%M%S%f}-{generation}"


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _keep_execution(production_id: int, generation: int, arn: str | None) -> None:
    with session() as transaction:
        production = locked(transaction, production_id)
        if production.generation == generation:
            production.execution_arn = arn


def resume_productions(_event: Mapping[str, Any] | None = None) -> dict[str, int]:
    """See to productions of which nothing was heard: returns how many they are, and how many were asked for again.

    One that cannot be looked up is left to the next run, and does not hold up the others.
    """
    quiet = _quiet()
    resumed = sum(_resumed(production_id) for production_id in quiet)
    if resumed:
        nudge_publisher()
    return {"quiet": len(quiet), "resumed": resumed}


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _quiet() -> Sequence[int]:
    with session() as reading:
        return reading.scalars(_QUIET, {"quiet": int(QUIET_FOR.total_seconds()), "most": BATCH}).all()


def _resumed(production_id: int) -> bool:
    try:
        return _resume(production_id)
    except UnavailableError as error:
        log_failure(error)
        return False


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _resume(production_id: int) -> bool:
    with session() as reading:
        production = reading.get_one(Productions, production_id)
    if production.execution_arn is None:
        # It may run all the same. Asked for under its name again, Lambda says which it is, and starts none twice.
        return _ask_again(production, production.generation)
    return not _is_under_way(production.execution_arn) and _ask_again(production, production.generation + 1)


def _is_under_way(arn: str) -> bool:
    try:
        with _lambda_errors():
            return bool(functions().get_durable_execution(DurableExecutionArn=arn)["Status"] == _UNDER_WAY)
    except NotFoundError:
        return False


def _ask_again(seen: Productions, generation: int) -> bool:
    """Ask for an execution of that generation, unless somebody was faster; or say that somebody has to see to it."""
    with session() as transaction:
        production = locked(transaction, seen.id)
        if not production.is_open or production.version != seen.version:
            return False
        production.resumed += 1
        production.updated_at = func.now(6)
        if production.resumed > RESUMED_AT_MOST:
            need_attention(transaction, production, ["execution"])
            return False
        production.generation, production.execution_arn = generation, None
        append_events(transaction, [production_requested(production.id, production.tenant_id, generation)])
    logger.warning("production asked for again", extra={"production_id": seen.id, "generation": generation})
    return True


@contextmanager
def _lambda_errors() -> Iterator[None]:
    """Raises NotFoundError for what Lambda does not know, FunctionUnavailableError for all else."""
    try:
        yield
    except ClientError as exc:
        code = exc.response["Error"]["Code"]
        if code == _GONE:
            raise NotFoundError() from exc
        raise FunctionUnavailableError(f"Lambda answered {code}") from exc
    except BotoCoreError as exc:
        raise FunctionUnavailableError() from exc
