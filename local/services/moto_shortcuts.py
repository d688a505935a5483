"""Shortcuts for moto, which responds as before but in less time.

Without them an import spent more processor time in moto than in its functions: for every received message moto computes
all attributes of the queue, and for every request it lists the folders of its own package.
"""

from __future__ import annotations

import time
from typing import Any

from moto import backends
from moto.sqs import models as sqs


def is_retained(backend: Any, queue_name: str, message: Any) -> bool:
    """Return whether the message is younger than the queue's retention period."""
    retention_s = backend.get_queue(queue_name).message_retention_period
    return bool(retention_s + message.sent_timestamp / 1000 > time.time())


def shorten_moto() -> None:
    """Apply the shortcuts of this module to moto, in this process."""
    queues: Any = sqs.SQSBackend
    queues.is_message_valid_based_on_retention_period = is_retained
    modules = tuple(backends.list_of_moto_modules())
    patched: Any = backends
    patched.list_of_moto_modules = lambda: modules
