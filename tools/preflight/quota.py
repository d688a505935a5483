"""The account's concurrency quota of Lambda against what the template's queues and schedules can start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tools.preflight.demand import Demand
from tools.preflight.findings import Finding, Severity

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

# "You can reserve up to the Unreserved account concurrency value that is shown, minus 100" (AWS Lambda Developer Guide,
# Configuring reserved concurrency).
KEPT_UNRESERVED = 100
# For requests to the API and executions of productions; what remains when imports use all of theirs.
FOR_REQUESTS = 10
# MinValue of the parameter, and the least that Lambda accepts as MaximumConcurrency.
LEAST_CHUNKS = 2
RAISE_QUOTA = (
    "Request a higher one; it can take days: aws service-quotas request-service-quota-increase --service-code lambda "
    "--quota-code L-B99A9384 --desired-value 1000"
)


def check_quota(functions: LambdaClient, demand: Demand) -> Iterator[Finding]:
    """Yield whether the unreserved quota covers the demand, and whether Lambda will accept the reservations."""
    limits = functions.get_account_settings()["AccountLimit"]
    quota, unreserved = limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"]
    if demand.reserved_concurrency and unreserved - demand.reserved_concurrency < KEPT_UNRESERVED:
        text = (
            f"the template reserves {demand.reserved_concurrency} executions of {unreserved}, and Lambda does not "
            f"reserve the last {KEPT_UNRESERVED}: the deployment fails. {RAISE_QUOTA}"
        )
        yield Finding(Severity.PROBLEM, "concurrency", text)
    left = unreserved - demand.concurrency
    starts = f"queues and schedules can start {demand.concurrency} executions at once"
    of_quota = f"the account has {unreserved} (quota {quota}, without what other functions reserve)"
    if left < 0:
        text = (
            f"{starts}, and {of_quota}: messages and requests are throttled. {RAISE_QUOTA}{_until_then(demand, left)}"
        )
        yield Finding(Severity.PROBLEM, "concurrency", text)
    elif left < FOR_REQUESTS:
        text = f"{starts}, and {of_quota}: {left} are left for requests and productions. {RAISE_QUOTA}"
        yield Finding(Severity.NOTE, "concurrency", text)
    else:
        yield Finding(Severity.OK, "concurrency", f"{starts}, and {of_quota}.")


def _until_then(demand: Demand, left: int) -> str:
    chunks = demand.chunk_concurrency + left
    return f". Until then, ChunkConcurrency={chunks} fits." if chunks >= LEAST_CHUNKS else ""
