"""AWS clients, created at first use and kept for the life of the process; all of them raise KeyRefusedError."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from shell.aws.key_refusals import watch_key

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

# Threads of one process that use S3 concurrently.
S3_CONNECTIONS = 16
_CONFIG = Config(retries={"mode": "standard", "max_attempts": 5}, connect_timeout=5, read_timeout=30)


@lru_cache(maxsize=1)
def s3() -> S3Client:
    """Return the S3 client."""
    return watch_key(boto3.client("s3", config=_CONFIG.merge(Config(max_pool_connections=S3_CONNECTIONS))))


@lru_cache(maxsize=1)
def sqs() -> SQSClient:
    """Return the SQS client."""
    return watch_key(boto3.client("sqs", config=_CONFIG))


@lru_cache(maxsize=2)
def wake_sqs(attempts: int) -> SQSClient:
    """Return an SQS client for messages that can be missed: it waits 3 seconds at most, so many times."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    return watch_key(boto3.client("sqs", config=Config(retries=retries, connect_timeout=1, read_timeout=2)))


@lru_cache(maxsize=1)
def sns() -> SNSClient:
    """Return the SNS client."""
    return watch_key(boto3.client("sns", config=_CONFIG))


@lru_cache(maxsize=1)
def event_bridge() -> Any:
    """Return the EventBridge client."""
    return watch_key(boto3.client("events", config=_CONFIG))


@lru_cache(maxsize=1)
def lambda_client() -> LambdaClient:
    """Return the Lambda client."""
    return watch_key(boto3.client("lambda", config=_CONFIG))
