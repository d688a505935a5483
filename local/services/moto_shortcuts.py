"""Shortcuts for moto, which responds as before but in less time.

Without them an import spent more processor time in moto than in its functions: for every range of an object moto copies
the whole object, for every received message it computes all attributes of the queue, and for every request it lists
the folders of its own package.
"""

from __future__ import annotations

import time
from typing import Any

from moto import backends
from moto.s3 import models as s3
from moto.sqs import models as sqs


def keep_last_content(content: property) -> property:
    """Return the property `content` of objects with the value that was read last kept in memory.

    An object's content is not changed once it can be read: a new version is another object.
    """
    last: tuple[Any, bytes] = (None, b"")

    def read(key: Any) -> bytes:
        nonlocal last
        kept, found = last
        if kept is not key:
            found = content.__get__(key)
            last = key, found
        return found

    def write(key: Any, value: bytes) -> None:
        nonlocal last
        last = None, b""
        content.__set__(key, value)

    return property(read, write)


def is_retained(backend: Any, queue_name: str, message: Any) -> bool:
    """Return whether the message is younger than the queue's retention period."""
    retention_s = backend.get_queue(queue_name).message_retention_period
    return bool(retention_s + message.sent_timestamp / 1000 > time.time())


def shorten_moto() -> None:
    """Apply the shortcuts of this module to moto, in this process."""
    key: Any = s3.FakeKey
    key.value = keep_last_content(key.value)
    queues: Any = sqs.SQSBackend
    queues.is_message_valid_based_on_retention_period = is_retained
    modules = tuple(backends.list_of_moto_modules())
    patched: Any = backends
    patched.list_of_moto_modules = lambda: modules
