"""A Redis that asks for a password gets the one in the secret; without it, it is as if there were no Redis."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import boto3
import pytest
from redis import Redis

from shell.utils import redis_client
from shell.utils.redis_client import RedisUnavailableError
from tests.support.application.cleared_caches import forget_redis, forget_secrets
from tests.support.application.driver import World
from tests.support.servers.redis_server import RedisServer

PASSWORD = secrets.token_hex(32)


@pytest.fixture
def guarded(server: RedisServer) -> Iterator[RedisServer]:
    """The server, which from now on requires the password."""
    server.client.config_set("requirepass", PASSWORD)
    forget_secrets()
    yield server
    forget_secrets()


def given(monkeypatch: pytest.MonkeyPatch, arn: str) -> None:
    monkeypatch.setenv("REDIS_SECRET_ARN", arn)
    forget_redis()


def ping(client: Redis) -> object:
    return client.ping()


def test_the_password_comes_from_the_secret(
    world: World, guarded: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    arn = boto3.client("secretsmanager").create_secret(Name=f"cache-{PASSWORD[:8]}", SecretString=PASSWORD)["ARN"]
    given(monkeypatch, arn)
    assert redis_client.execute(ping) is True


@pytest.mark.parametrize("arn", ["", "arn:aws:secretsmanager:us-east-1:123456789012:secret:nowhere-abcdef"])
def test_without_the_password_there_is_no_redis(
    guarded: RedisServer, monkeypatch: pytest.MonkeyPatch, arn: str
) -> None:
    given(monkeypatch, arn)
    with pytest.raises(RedisUnavailableError) as error:
        redis_client.execute(ping)
    assert PASSWORD not in str(error.value)
