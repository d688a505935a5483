"""The stack that a command reads or writes, from a file: a password in a command line is visible to every process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from tools.tenants.database import TenantToolError

_CONNECTIONS = 32


@dataclass(frozen=True)
class Stack:
    """A stack: its database as a URL with a user who may do everything, and its bucket.

    `endpoint` is the address of S3 if it is not that of AWS. `storage` is the folder of the objects of a local stack.
    """

    database: str
    bucket: str
    endpoint: str | None = None
    storage: str | None = None

    @cached_property
    def s3(self) -> Any:
        """The client of the stack's S3."""
        config = Config(max_pool_connections=_CONNECTIONS, retries={"mode": "adaptive", "max_attempts": 10})
        return boto3.client("s3", endpoint_url=self.endpoint, config=config)


def read_stack(path: Path) -> Stack:
    """Return the stack that a JSON file describes. Raises TenantToolError if it cannot be read or lacks a member."""
    try:
        return Stack(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as exc:
        raise TenantToolError(
            f'{path} does not describe a stack ({exc}); write it as {{"database": "mysql+pymysql://...", '
            '"bucket": "..."}, with "endpoint" and "storage" for a stack of this machine'
        ) from exc
