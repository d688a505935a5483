"""Child processes that never outlive their stack.

On Linux the kernel ends them even when this process is killed; elsewhere `stop` does, on every ordinary way out.
Each is the leader of a session of its own, so that Ctrl-C in a terminal reaches this process alone, which then
decides the order of going down.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

_CHILD = Path(__file__).with_name("child.py")


def inherited_environment() -> dict[str, str]:
    """This process's environment without AWS settings, proxies and Python's own switches.

    Nobody's profile, credentials or endpoint reaches a child: what runs here must never talk to a real account.
    """
    unwanted = ("AWS_", "PYTHON", "DATABASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(unwanted)}
    nothing = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
    return kept | nothing | {"AWS_EC2_METADATA_DISABLED": "true"}


class Processes:
    """Starts child processes, and ends all that are left when it is closed."""

    def __init__(self) -> None:
        # The kernel sends the death signal when the *thread* that started a child ends, not the process: so all are
        # started from one thread, which ends with this object.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="child-starter")
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def start(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        directory: Path | None = None,
        death_signal: signal.Signals = signal.SIGKILL,
        pipes: bool = False,
    ) -> subprocess.Popen[bytes]:
        """Start a command whose output goes to the end of a log file (with `pipes` only its standard error)."""
        shim = dies_with(os.getpid(), death_signal)

        def start() -> subprocess.Popen[bytes]:
            # Noted here and not by the caller, whom Ctrl-C may interrupt while it waits.
            with log.open("ab") as output, self._lock:
                child = _popen([*shim, *command], environment, output, directory, pipes)
                self._children.add(child)
                return child

        return self._starter.submit(start).result()

    def stop(self) -> None:
        """Kill whatever still runs, and wait until it is gone."""
        self._starter.submit(lambda: None).result()
        for child in self._children:
            kill(child)
        self._children.clear()
        self._starter.shutdown()


def dies_with(parent: int, death_signal: signal.Signals = signal.SIGKILL) -> list[str]:
    """What to put before a command so that it gets the signal when its parent ends; 0 is whoever starts it."""
    return [sys.executable, "-I", "-S", str(_CHILD), str(int(death_signal)), str(parent)]


def _popen(
    command: Sequence[str], environment: Mapping[str, str], output: IO[bytes], directory: Path | None, pipes: bool
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=dict(environment),
        cwd=directory,
        stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
        stdout=subprocess.PIPE if pipes else output,
        stderr=output,
        start_new_session=True,
    )


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and what it started itself, and collect it."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log file; empty where there is none."""
    try:
        return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
