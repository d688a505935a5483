"""The parts of a stack, in this process or served by another one, that commands need: each asks only for its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class HasBucket(Protocol):
    """A stack with the bucket of evidence and reports."""

    @property
    def bucket(self) -> str:
        """Return the name of its bucket."""

    @property
    def s3(self) -> S3Client:
        """Return a client for its S3."""


class HasStateFolder(Protocol):
    """A stack that keeps files on this machine."""

    @property
    def state_dir(self) -> Path:
        """Return the folder of its files."""


class HasLogs(Protocol):
    """A stack whose functions write logs."""

    @property
    def log_directory(self) -> Path:
        """Return the folder of the functions' logs."""


class HasActivity(Protocol):
    """A stack whose functions work."""

    def is_idle(self) -> bool:
        """Return whether no message is queued or in flight and no function is running."""

    def wait_for_activity(self, seconds: float) -> None:
        """Wait until an invocation ends, at most for that many seconds."""


class HasApi(Protocol):
    """A stack that takes requests."""

    def request_api(
        self, tenant: str, user: str, method: str, path: str, body: object = None, if_match: str | None = None
    ) -> tuple[int, bytes]:
        """Send a request to the API, as this user, and return status code and body."""
