"""The time and the processor time that work takes: of this process, and of the database server."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.database import Database


@dataclass(frozen=True)
class Usage:
    """Seconds of wall time, of this process's processor time, and of the server's.

    `server_s` is None if the server's process is not on this machine.
    """

    seconds: float
    process_s: float
    server_s: float | None


def measure_usage(database: Database, work: Callable[[], object]) -> Usage:
    """Do the work and return what it took. What the server does for it afterwards, such as purging, is not included."""
    server = _find_server(database)
    before, process, began = _get_server_s(server), time.process_time(), time.perf_counter()
    work()
    seconds, process = time.perf_counter() - began, time.process_time() - process
    after = _get_server_s(server)
    return Usage(seconds, process, None if before is None or after is None else after - before)


def _get_server_s(server: psutil.Process | None) -> float | None:
    if server is None:
        return None
    times = server.cpu_times()
    return float(times.user + times.system)


def _find_server(database: Database) -> psutil.Process | None:
    """Return the process whose id is in the server's file, if that is on this machine."""
    folder, name = (database.query(f"SELECT @@{variable}")[0][0] for variable in ("datadir", "pid_file"))
    try:
        return psutil.Process(int(Path(folder, name).read_text()))
    except (OSError, ValueError, psutil.Error):
        return None
