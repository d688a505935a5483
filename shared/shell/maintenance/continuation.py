"""Continue a migration that takes longer than one invocation: the function invokes itself with the same event.

Guaranteed: CloudFormation gets one response, from the invocation in which the migration ends or fails. The chain ends
before CloudFormation stops waiting, `SERVICE_TIMEOUT_S` seconds after the first event.
Not guaranteed: that the statement which an invocation left behind has ended. The server executes it to its end and
keeps the lock of migrations until then, for which the next invocation waits (`shell.maintenance.migrate`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import DatabaseUnavailableError, FunctionUnavailableError
from shell.aws.clients import lambda_client
from shell.maintenance.custom_resource import ContinuedError
from shell.observability import logger
from shell.settings import settings

# The most that CloudFormation waits for a custom resource (AWS::CloudFormation::CustomResource, ServiceTimeout).
SERVICE_TIMEOUT_S = 3600
# The function's own timeout, and a minute for the delivery of its first event.
_LAST_INVOCATION_S = 960
_STARTED_AT = "StartedAt"


class UnfinishedError(DatabaseUnavailableError):
    """The migration needs another invocation."""


@contextmanager
def continuing(event: Mapping[str, Any]) -> Iterator[None]:
    """Invoke this function with the event again if the block raises UnfinishedError and CloudFormation still waits.

    Raises ContinuedError then, UnfinishedError if nothing waits or too little time is left for another invocation, and
    FunctionUnavailableError if Lambda does not accept the event.
    """
    started_at = float(event.get(_STARTED_AT) or time.time())
    try:
        yield
    except UnfinishedError as error:
        if not event.get("ResponseURL") or time.time() > started_at + SERVICE_TIMEOUT_S - _LAST_INVOCATION_S:
            raise
        _invoke({**event, _STARTED_AT: started_at})
        raise ContinuedError() from error


def _invoke(event: Mapping[str, Any]) -> None:
    name = settings().function_name
    try:
        lambda_client().invoke(FunctionName=name, InvocationType="Event", Payload=json.dumps(event).encode())
    except (BotoCoreError, ClientError) as exc:
        raise FunctionUnavailableError("Lambda did not accept the rest of the migration.") from exc
    logger.info("the migration goes on in another invocation")
