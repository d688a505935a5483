"""The logger and metrics of every function, configured by Powertools' environment variables.

Log lines contain ids, counts and codes, never document content, names or credentials. Metrics are log lines too, in
CloudWatch's embedded metric format: nothing here calls AWS.
"""

from __future__ import annotations

import traceback
from threading import Lock

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from core.errors import (
    BusyError,
    ChunkBusyError,
    DeadlineNearError,
    ExhibitIngestError,
    ImportBusyError,
    SettingsError,
)

# Nothing failed: the work waits for another worker, or for an invocation with time for it.
_WAITS = (BusyError, ChunkBusyError, ImportBusyError, DeadlineNearError)

# The service, the dimension of every metric, is the stack's name.
logger = Logger()
metrics = Metrics(namespace="ExhibitIngest")
# The library's metrics belong to the process: two threads would flush each other's, twice or with an error.
_emitting = Lock()


def emit_counts(**figures: int) -> None:
    """Emit counts as metrics of those names, at once, from any thread.

    They serve dashboards; the database has the exact counts.
    """
    with _emitting:
        for name, figure in figures.items():
            metrics.add_metric(name, MetricUnit.Count, figure)
        metrics.flush_metrics()


def log_failure(error: Exception) -> None:
    """Log the error's type and location, and its message only if it is this application's own, without values.

    It is a warning if nothing failed, which alarms and searches for errors must not show. The metric SettingsErrors
    counts what only another deployment, or its key, can correct.
    """
    message = str(error) if isinstance(error, ExhibitIngestError) else None
    where = traceback.format_tb(error.__traceback__)[-3:]
    log = logger.warning if isinstance(error, _WAITS) else logger.error
    log("failed", extra={"error": type(error).__name__, "reason": message, "where": where})
    if isinstance(error, SettingsError):
        emit_counts(SettingsErrors=1)
