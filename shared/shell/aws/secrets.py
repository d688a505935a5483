"""Secrets as they are now, read seldom and soon.

Guaranteed: who asks has an answer within seconds; a secret that is not to be had just now is what it was when it was
last read, for that is better than an outage of two services; neither secrets nor the service's own words are logged.
"""

from __future__ import annotations

from functools import lru_cache

from aws_lambda_powertools.utilities.parameters import SecretsProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from botocore.config import Config

from shell.observability import logger

_SOON = Config(connect_timeout=2, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})
_last_read: dict[str, str] = {}


class SecretUnavailableError(Exception):
    """The secret was never read, and is not to be had now."""


def secret(arn: str, *, max_age_s: int, anew: bool = False) -> str:
    """The secret's text, at most so many seconds old, or read `anew`; raises SecretUnavailableError."""
    try:
        text = str(_provider().get(arn, max_age=max_age_s, force_fetch=anew))
    except GetParameterError as error:
        if arn not in _last_read:
            raise SecretUnavailableError(f"the secret {arn} is not to be had") from error
        logger.warning("a secret is not to be had; its last text is used", extra={"secret": arn})
        return _last_read[arn]
    _last_read[arn] = text
    return text


def forget_secrets() -> None:
    """Read everything anew, for whoever changes the settings of a living process."""
    _provider.cache_clear()
    _last_read.clear()


@lru_cache(maxsize=1)
def _provider() -> SecretsProvider:
    return SecretsProvider(boto_config=_SOON)
