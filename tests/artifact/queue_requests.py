"""What functions ask SQS for when work fails or may be left: done in this process, in the function's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest

from core.errors import StorageUnavailableError
from core.events import import_failed
from shell.db.session import session
from shell.lambda_handlers import MAX_DELIVERIES, sqs_handler
from shell.outbox.relay import report_backlog
from shell.outbox.writer import append_events
from shell.productions import executions
from shell.settings import Settings, settings
from shell.work.messages import ProductionMessage
from tests.artifact.observed_stack import Watched
from tests.support.application.driver import Context, sqs_event


def _other_queue(name: str) -> str:
    """The URL of a queue that only one function knows."""
    return settings().import_requests_queue_url.replace("ImportRequests", name)


# What the functions give to `sqs_handler`, or the like.
QUEUES: Mapping[str, Callable[[Settings], str]] = {
    "StartImportFunction": lambda config: config.import_requests_queue_url,
    "ImportChunkFunction": lambda config: config.import_chunks_queue_url,
    "CompleteImportFunction": lambda config: config.import_completions_queue_url,
    "WriteImportReportFunction": lambda _: _other_queue("ImportReports"),
    "StartProductionFunction": lambda _: _other_queue("ProductionRequests"),
    "ProcessVolumeFunction": lambda config: config.volume_work_queue_url,
}


def redeliver_what_fails(watched: Watched) -> None:
    """A failure at its first delivery, whose handle the queue never gave out, and an outage at its last."""
    failures: dict[str, Exception] = {"1": RuntimeError(), str(MAX_DELIVERIES): StorageUnavailableError()}
    for function, queue_url in QUEUES.items():
        with watched.acting_as(function):
            for deliveries, error in failures.items():
                event = sqs_event({})
                event["Records"][0]["attributes"]["ApproximateReceiveCount"] = deliveries
                sqs_handler(partial(_fail, error), queue_url)(event, Context())


def _fail(error: Exception, _message: object) -> None:
    raise error


def leave_messages_behind(watched: Watched) -> None:
    """An event of a process that has sent no delayed message yet, and the relay while it waits."""
    works: dict[str, Callable[[], object]] = {
        "PurgeExpiredFunction": _append_event,
        "PublishOutboxFunction": report_backlog,
        "StartProductionFunction": _wait_for_a_turn,
    }
    for function, work in works.items():
        with watched.acting_as(function), pytest.MonkeyPatch.context() as patch:
            patch.setattr("shell.outbox.writer._last_delayed_wake", [])
            work()


def _wait_for_a_turn() -> None:
    """As where as many productions as may be are being made."""
    queue_url = _other_queue("ProductionRequests")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODUCTION_REQUESTS_QUEUE_URL", queue_url)
        settings.cache_clear()
        patch.setattr(executions, "_build_execution_name", lambda *_: "name")
        patch.setattr(executions, "_must_wait", lambda _: True)
        executions.start_production(ProductionMessage.read({"productionId": 1, "generation": 1}))
    settings.cache_clear()


def _append_event() -> None:
    with session() as transaction:
        append_events(transaction, [import_failed(1, "tenant", "NOT_UPLOADED")])
