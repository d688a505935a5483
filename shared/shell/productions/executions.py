"""Start executions of productions, and start the next one where an execution ended before its production did.

Guaranteed: however often the request of a production is delivered, one execution of its generation runs. Lambda accepts
the execution's name once; it consists of the production's id, its creation time and the generation. The next
generation starts only after Lambda reports that the last execution ended. A production that does not end within
MAX_RESUMPTIONS requests becomes `needs_attention`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast

from botocore.exceptions import BotoCoreError, ClientError
from sqlalchemy import func, text

from core.errors import FunctionUnavailableError, NotFoundError, UnavailableError
from core.events import production_requested
from shell.aws.clients import lambda_client
from shell.aws.key_refusals import KeyRefusedError
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.observability import log_failure, logger, naming_tenant
from shell.outbox.writer import append_events, wake_relay
from shell.productions.state import lock_production, mark_needs_attention
from shell.settings import settings
from shell.tables.productions import Productions
from shell.tenants.records import share_tenant
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import ProductionMessage, WakeMessage
from shell.work.reading import read_turn
from shell.work.reminders import remind

# Longer than the timeout of an invocation, and than any wait between two invocations of an execution.
QUIET_FOR = timedelta(minutes=20)
BATCH = 100
MAX_RESUMPTIONS = 10
# The unfinished step of a production without an execution.
EXECUTION = "execution"
_NOT_FOUND = "ResourceNotFoundException"
_RUNNING = "RUNNING"
CHECK_S = 300
# How long a production waits before it tries again to start; many wait in no order.
TURN_S = 60
_COUNT_STARTED = text("SELECT COUNT(*) FROM productions WHERE is_open = 1 AND execution_arn IS NOT NULL AND id <> :id")
_TENANT = text("SELECT tenant_id FROM productions WHERE id = :id")
_ANY_OPEN = text("SELECT 1 FROM productions WHERE is_open = 1 LIMIT 1")
_QUIET = text(
    "SELECT id, tenant_id FROM productions WHERE is_open = 1 AND updated_at < NOW(6) - INTERVAL :quiet SECOND "
    "ORDER BY updated_at LIMIT :most"
)


def start_production(message: ProductionMessage) -> None:
    """Start the execution that a `production.requested` message requests, unless it was started before.

    While MAX_PRODUCTIONS others have executions, or nothing starts for the tenant, the production waits and keeps its
    status `requested`. If the stack's key refuses Lambda, the production becomes `needs_attention` with this reason: it
    has taken no numbers, and is started when it is retried.

    Raises FunctionUnavailableError, QueueUnavailableError and DatabaseUnavailableError, so that the message is
    delivered again.
    """
    production_id, generation = message.production_id, message.generation
    if not message.checked:
        # First of all: whatever fails from here on, the production is looked after as long as it is open.
        send_messages(settings().production_checks_queue_url, [WakeMessage()], CHECK_S)
    name = _build_execution_name(production_id, generation)
    if name is None:
        return
    if _must_wait(production_id):
        # A copy, which has not been delivered before: deliveries of a message are limited, and its turn may take a day.
        send_messages(settings().production_requests_queue_url, [message.as_checked()], TURN_S)
        return
    payload = message.as_input().to_json()
    request = {"DurableExecutionName": name, "InvocationType": "Event", "Payload": payload.encode()}
    try:
        with _lambda_errors():
            response = lambda_client().invoke(FunctionName=settings().produce_function_arn, **cast("Any", request))
    except KeyRefusedError as error:
        log_failure(error)
        _give_up_start(production_id, generation, str(error))
        wake_relay()
        return
    _save_execution_arn(production_id, generation, str(response.get("DurableExecutionArn") or "") or None)
    logger.info("production started", extra={"production_id": production_id, "generation": generation})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _build_execution_name(production_id: int, generation: int) -> str | None:
    """Return the execution's name, or None for an outdated message: the production ended or has another generation.

    The name contains the creation time because ids alone would collide where two databases, such as a restored one,
    use the same function.
    """
    with session() as reading:
        production = reading.get(Productions, production_id)
    if production is None or not production.is_open or production.generation != generation:
        return None
    return f"{production_id}-{production.created_at:%Y%m%d%H%M%S%f}-{generation}"


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _must_wait(production_id: int) -> bool:
    """Return whether as many other productions have an execution as may have one; a production that waits is alive.

    It waits, too, while nothing starts for its tenant.
    One that has an execution does not wait, and neither does one to be cancelled, which has only little to undo.
    Two starters at once can exceed the limit by one: it protects the database, and is not exact.
    """
    with session() as transaction:
        tenant = share_tenant(transaction, transaction.scalars(_TENANT, {"id": production_id}).one())
        production = lock_production(transaction, production_id)
        if production.execution_arn is not None or production.cancel_requested:
            return False
        running = transaction.scalar(_COUNT_STARTED, {"id": production_id}) or 0
        waits = running >= settings().max_productions or not tenant.starts_work
        if waits:
            production.updated_at = func.now(6)
    return waits


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _save_execution_arn(production_id: int, generation: int, arn: str | None) -> None:
    with session() as transaction:
        production = lock_production(transaction, production_id)
        if production.generation == generation:
            production.execution_arn = arn


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _give_up_start(production_id: int, generation: int, reason: str) -> None:
    with session() as transaction:
        production = lock_production(transaction, production_id)
        if production.is_open and production.generation == generation:
            production.reason, production.updated_at = reason, func.now(6)
            mark_needs_attention(transaction, production, [EXECUTION])


def resume_productions(event: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Check productions that have made no progress for QUIET_FOR, and request an execution where none is running.

    Returns how many productions were quiet and how many were resumed. A production whose execution cannot be looked up
    is left to the next run and does not delay the others. While any production is open, another run is requested,
    unless a later message than those of `event` requests it; if that fails, QueueUnavailableError is raised, so that
    the message of this run is delivered again.
    """
    quiet = _list_quiet()
    resumed = sum(_try_resume(*each) for each in quiet)
    if resumed:
        wake_relay()
    if _is_any_open():
        remind(settings().production_checks_queue_url, CHECK_S, read_turn(event or {}))
    return {"quiet": len(quiet), "resumed": resumed}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _is_any_open() -> bool:
    with session() as reading:
        return reading.scalar(_ANY_OPEN) is not None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_quiet() -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_QUIET, {"quiet": int(QUIET_FOR.total_seconds()), "most": BATCH}).all()


def _try_resume(production_id: int, tenant_id: str) -> bool:
    with naming_tenant(tenant_id):
        try:
            return _resume(production_id)
        except (UnavailableError, KeyRefusedError) as error:
            log_failure(error)
            return False


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _resume(production_id: int) -> bool:
    with session() as reading:
        production = reading.get_one(Productions, production_id)
    if production.execution_arn is None:
        # It may be running. A second request under the same name returns the ARN of that execution and starts no other.
        return _request_execution(production, production.generation)
    return not _is_running(production.execution_arn) and _request_execution(production, production.generation + 1)


def _is_running(arn: str) -> bool:
    try:
        with _lambda_errors():
            return bool(lambda_client().get_durable_execution(DurableExecutionArn=arn)["Status"] == _RUNNING)
    except NotFoundError:
        return False


def _request_execution(seen: Productions, generation: int) -> bool:
    """Request an execution of the generation and return True, if the production did not change since it was read.

    Returns False if it did, and where the production becomes `needs_attention` after too many requests.
    """
    with session() as transaction:
        production = lock_production(transaction, seen.id)
        if not production.is_open or production.version != seen.version:
            return False
        production.resumptions += 1
        production.updated_at = func.now(6)
        if production.resumptions > MAX_RESUMPTIONS:
            mark_needs_attention(transaction, production, [EXECUTION])
            return False
        production.generation, production.execution_arn = generation, None
        append_events(transaction, [production_requested(production.id, production.tenant_id, generation)])
    logger.warning("production resumed", extra={"production_id": seen.id, "generation": generation})
    return True


@contextmanager
def _lambda_errors() -> Iterator[None]:
    """Raise NotFoundError for an execution that Lambda does not know, FunctionUnavailableError for any other error."""
    try:
        yield
    except ClientError as exc:
        code = exc.response["Error"]["Code"]
        if code == _NOT_FOUND:
            raise NotFoundError() from exc
        raise FunctionUnavailableError(f"Lambda returned {code}.") from exc
    except BotoCoreError as exc:
        raise FunctionUnavailableError() from exc
