"""Where a semaphore's slots are, looked at and tampered with from outside of the application."""

from __future__ import annotations

from redis import Redis

from shell.utils.semaphore_backends import MySqlBackend, RedisBackend
from tests.support.application.driver import World


class InRedis:
    """Slots in Redis."""

    def __init__(self, url: str) -> None:
        self.backend = RedisBackend()
        self._client = Redis.from_url(url)

    def _key(self, end: str) -> bytes:
        return next(self._client.scan_iter(f"*:{end}"), b"none")

    def holders(self) -> int:
        """How many are written down, their time over or not."""
        return self._client.zcard(self._key("holders"))

    def seconds_left(self) -> float:
        """Of the one holder."""
        return self._client.pttl(self._key("holders")) / 1000

    def delete(self) -> None:
        """Lose everything, as after a restart."""
        self._client.flushall()

    def set_fence(self, fencing_token: int) -> None:
        """As if the one semaphore's last fencing token had been this."""
        self._client.set(self._key("fencing_token"), fencing_token)

    def close(self) -> None:
        self._client.close()


class InDatabase:
    """Slots in the database; its methods are those of `InRedis`."""

    def __init__(self, world: World) -> None:
        self.backend = MySqlBackend()
        self._world = world

    def holders(self) -> int:
        return int(self._world.query("SELECT COUNT(*) FROM semaphore_holders")[0][0])

    def seconds_left(self) -> float:
        left = "SELECT TIMESTAMPDIFF(MICROSECOND, NOW(6), expires_at) FROM semaphore_holders"
        return float(self._world.query(left)[0][0]) / 1_000_000

    def delete(self) -> None:
        self._world.query("DELETE FROM semaphore_holders")
        self._world.query("DELETE FROM semaphores")

    def set_fence(self, fencing_token: int) -> None:
        self._world.query("UPDATE semaphores SET fencing_token = :fencing_token", fencing_token=fencing_token)


Store = InRedis | InDatabase
