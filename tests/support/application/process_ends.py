"""Waiting for the end of processes that are not ours to wait for."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from tests.support.database.server_status import wait_until


def wait_until_ended(processes: Sequence[psutil.Process]) -> None:
    """Wait until none of them runs; one whose parent has ended may stay a zombie until init looks at it."""
    wait_until(lambda: not any(map(_is_running, processes)), "the end of all processes")


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
