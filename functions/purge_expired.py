"""Purge expired keys, published events and unused semaphores, and expire imports whose file never came."""

from __future__ import annotations

from shell.lambda_handlers import event_handler
from shell.maintenance.purge import purge_expired

lambda_handler = event_handler(purge_expired)
