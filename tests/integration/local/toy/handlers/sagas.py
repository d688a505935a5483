"""A durable handler that does what its event says; what its steps did is reported on the results queue."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import boto3
from aws_durable_execution_sdk_python import DurableContext, StepContext, durable_execution
from aws_durable_execution_sdk_python.config import Duration, JitterStrategy, StepConfig
from aws_durable_execution_sdk_python.retries import RetryStrategyConfig, create_retry_strategy

_MINUTES = RetryStrategyConfig(
    max_attempts=3, initial_delay=Duration.from_minutes(5), jitter_strategy=JitterStrategy.NONE
)


@durable_execution
def saga(event: dict[str, Any], context: DurableContext) -> dict[str, Any]:
    """Takes a first step, waits, stands before a gate and tries what may fail."""
    first = context.step(lambda step: _tell(event, "first", step), name="first")
    if "wait" in event:
        context.wait(Duration.from_seconds(event["wait"]), name="pause")
    if "gate" in event:
        context.step(lambda step: _pass(event, step), name="gate")
    config = StepConfig(retry_strategy=create_retry_strategy(_MINUTES))
    attempts = context.step(lambda step: _try(event, step), name="trial", config=config)
    return {"first": first, "last": os.getpid(), "attempts": attempts}


def _pass(event: dict[str, Any], step: StepContext) -> None:
    """Wait until a test opens the gate, which is a file."""
    _tell(event, "gate", step)
    while not Path(event["gate"]).exists():
        time.sleep(0.01)


def _try(event: dict[str, Any], step: StepContext) -> int:
    if step.attempt <= event.get("fail_times", 0):
        raise ValueError("as you wished")
    return step.attempt


def _tell(event: dict[str, Any], what: str, step: StepContext) -> int:
    result = {"function": "saga", "saga": event["saga"], "step": what, "pid": os.getpid()}
    boto3.client("sqs").send_message(QueueUrl=os.environ["RESULTS_QUEUE_URL"], MessageBody=json.dumps(result))
    return os.getpid()
