"""The schedule: old idempotency keys, published events, unused semaphores and uploads that never came."""

from __future__ import annotations

from shell.invocation import plain_handler
from shell.purge_ops import purge_expired

lambda_handler = plain_handler(purge_expired)
