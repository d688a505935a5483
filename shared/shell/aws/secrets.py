"""Secrets Manager values, cached and read with short timeouts.

Guaranteed: a caller has an answer within seconds; while Secrets Manager is unavailable, the value last read is used,
so that its outage does not become an outage of the database or of Redis; neither values nor the service's error
messages are logged.
"""

from __future__ import annotations

from functools import lru_cache

import boto3
from aws_lambda_powertools.utilities.parameters import SecretsProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from botocore.config import Config

from core.error_chain import walk_chain
from shell.aws.key_refusals import KeyRefusedError, watch_key
from shell.observability import logger

_SHORT_TIMEOUTS = Config(connect_timeout=2, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})
_last_read: dict[str, str] = {}


class SecretUnavailableError(Exception):
    """The secret was never read in this process and cannot be read now."""


def get_secret(arn: str, *, max_age_s: int, force_fetch: bool = False) -> str:
    """Return the secret's text, read at most `max_age_s` seconds ago or, with `force_fetch`, now.

    Raises SecretUnavailableError if it was never read and cannot be read now, or KeyRefusedError if its key is why.
    """
    try:
        text = str(_provider().get(arn, max_age=max_age_s, force_fetch=force_fetch))
    except GetParameterError as error:
        if arn not in _last_read:
            for each in walk_chain(error):
                if isinstance(each, KeyRefusedError):
                    raise KeyRefusedError(str(each)) from error
            raise SecretUnavailableError(f"the secret {arn} cannot be read") from error
        logger.warning("a secret cannot be read; its last value is used", extra={"secret": arn})
        return _last_read[arn]
    _last_read[arn] = text
    return text


@lru_cache(maxsize=1)
def _provider() -> SecretsProvider:
    """Return Powertools' provider, which caches what it reads."""
    return SecretsProvider(boto3_client=watch_key(boto3.client("secretsmanager", config=_SHORT_TIMEOUTS)))
