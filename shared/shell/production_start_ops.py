"""Starting executions of productions, and starting anew where one ended without an end of its production.

Guaranteed: however often a production's request is delivered, one execution of its generation runs, for its name is the
production's id and Lambda has a name once; a further generation begins only once Lambda says that the last execution
has ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from sqlalchemy import func, text

from core.errors import FunctionUnavailableError
from core.events import production_requested
from shell.observability import logger
from shell.outbox_ops import append_events, nudge_publisher
from shell.production_state_ops import locked
from shell.settings import settings
from shell.tables import Productions
from shell.utils.aws import functions
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

# Longer than an invocation may take, and than any wait between two.
QUIET_FOR = timedelta(minutes=20)
BATCH = 100
_ALREADY = "DurableExecutionAlreadyStartedException"
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
    if not _is_wanted(production_id, generation):
        return
    name = str(production_id) if generation == 1 else f"{production_id}-{generation}"
    payload = json.dumps({"productionId": production_id, "generation": generation})
    try:
        answer = functions().invoke(
            FunctionName=settings().produce_function_arn,
            InvocationType="Event",
            DurableExecutionName=name,
            Payload=payload.encode(),
        )
    except ClientError as exc:
        if exc.response["Error"]["Code"] != _ALREADY:
            raise FunctionUnavailableError(f"Lambda answered {exc.response['Error']['Code']}") from exc
        return
    except BotoCoreError as exc:
        raise FunctionUnavailableError() from exc
    _keep_execution(production_id, generation, str(answer.get("DurableExecutionArn", "")))
    logger.info("production started", extra={"production_id": production_id, "generation": generation})


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _is_wanted(production_id: int, generation: int) -> bool:
    """A message may be late: what it asks for has ended then, or is another execution's work."""
    with session() as reading:
        production = reading.get(Productions, production_id)
        return production is not None and bool(production.is_open) and production.generation == generation


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _keep_execution(production_id: int, generation: int, arn: str) -> None:
    with session() as transaction:
        production = locked(transaction, production_id)
        if production.generation == generation:
            production.execution_arn = arn


def resume_productions(_event: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Ask for a further execution of productions of which nothing was heard and whose last one has ended."""
    with session() as reading:
        quiet = reading.scalars(_QUIET, {"quiet": int(QUIET_FOR.total_seconds()), "most": BATCH}).all()
    resumed = sum(_resume(production_id) for production_id in quiet)
    if resumed:
        nudge_publisher()
    return {"quiet": len(quiet), "resumed": resumed}


def _resume(production_id: int) -> bool:
    with session() as reading:
        production = reading.get_one(Productions, production_id)
    return not _is_under_way(production.execution_arn) and _ask_again(production_id, production.generation)


def _is_under_way(arn: str | None) -> bool:
    if not arn:
        return False
    try:
        return bool(functions().get_durable_execution(DurableExecutionArn=arn)["Status"] == _UNDER_WAY)
    except ClientError as exc:
        if exc.response["Error"]["Code"] == _GONE:
            return False
        raise FunctionUnavailableError(f"Lambda answered {exc.response['Error']['Code']}") from exc
    except BotoCoreError as exc:
        raise FunctionUnavailableError() from exc


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _ask_again(production_id: int, generation: int) -> bool:
    """The next generation, unless somebody else has begun it meanwhile."""
    with session() as transaction:
        production = locked(transaction, production_id)
        if not production.is_open or production.generation != generation:
            return False
        production.generation += 1
        production.updated_at = func.now(6)
        append_events(transaction, [production_requested(production_id, production.tenant_id, generation + 1)])
    logger.warning("production resumed", extra={"production_id": production_id, "generation": generation + 1})
    return True
