"""The logger and metrics of every function, configured by Powertools' environment variables.

Log lines contain ids, counts and codes, never document content, names or credentials. Lines that are written while a
function works for a tenant have its label as `tenant_id`; two threads can work for two tenants. Metrics are log lines
too, in CloudWatch's embedded metric format: nothing here calls AWS.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
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
from core.tenants.labels import build_label

# Nothing failed: the work waits for another worker, or for an invocation with time for it.
_WAITS = (BusyError, ChunkBusyError, ImportBusyError, DeadlineNearError)

# The service, the dimension of every metric, is the stack's name.
logger = Logger()
metrics = Metrics(namespace="ExhibitIngest")
# The library's metrics belong to the process: two threads would flush each other's, twice or with an error.
_emitting = Lock()


@contextmanager
def naming_tenant(tenant_id: str | None) -> Iterator[None]:
    """Have the log lines of the block name the tenant, if any; after it they name the one that they named before."""
    before = logger.thread_safe_get_current_keys().get("tenant_id")
    name_tenant(tenant_id)
    try:
        yield
    finally:
        name_tenant(before)


def name_tenant(tenant_id: str | None) -> None:
    """Have the log lines from here on name the tenant, if any, until the block of `naming_tenant` around it ends."""
    # A line has no keys whose value is None.
    logger.thread_safe_append_keys(tenant_id=None if tenant_id is None else build_label(tenant_id))


def emit_counts(**figures: int) -> None:
    """Emit counts as metrics of those names, at once, from any thread.

    They serve dashboards; the database has the exact counts.
    """
    with _emitting:
        for name, figure in figures.items():
            metrics.add_metric(name, MetricUnit.Count, figure)
        metrics.flush_metrics()


def emit_tenant_counts(tenant_id: str, **figures: int) -> None:
    """Emit counts once more as metrics of the tenant, by its label. One of zero would cost as much, and is left out."""
    counted = {name: figure for name, figure in figures.items() if figure}
    if counted:
        with _emitting:
            metrics.add_dimension("tenant_id", build_label(tenant_id))
            for name, figure in counted.items():
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
