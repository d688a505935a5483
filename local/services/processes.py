"""Child processes that end with their stack.

Guaranteed on Linux, where the kernel ends them even when this process is killed; on other systems `stop` ends them, so
not after SIGKILL. Each child is the leader of a new session: Ctrl-C in a terminal reaches only this process, which then
stops its children in order.
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

_SHIM = Path(__file__).with_name("parent_death.py")


def build_child_environment() -> dict[str, str]:
    """Return this process's environment without AWS settings, proxies, PYTHON* variables and DATABASE_URL.

    No profile, credentials or endpoint of the user reaches a child: local code must never access a real AWS account.
    """
    removed = ("AWS_", "PYTHON", "DATABASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(removed)}
    empty_files = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
    return kept | empty_files | {"AWS_EC2_METADATA_DISABLED": "true"}


class Processes:
    """A set of child processes; `stop` ends all of them."""

    def __init__(self) -> None:
        # The kernel sends the death signal when the *thread* that started a child ends, not the process. So one thread
        # starts all children and ends with this object.
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
        """Start a command and append its output to a log file (with `pipes` only its standard error)."""
        shim = build_parent_death_command(os.getpid(), death_signal)

        def start() -> subprocess.Popen[bytes]:
            # Recorded in this thread: Ctrl-C can interrupt the caller while it waits.
            with log.open("ab") as output, self._lock:
                child = _popen([*shim, *command], environment, output, directory, pipes)
                self._children.add(child)
                return child

        return self._starter.submit(start).result()

    def stop(self) -> None:
        """Kill all children that still run, and wait until they have ended."""
        self._starter.submit(lambda: None).result()
        self.kill()
        self._children.clear()
        self._starter.shutdown()

    def kill(self) -> None:
        """Kill all children that still run, and wait until they have ended; others can be started afterwards."""
        with self._lock:
            children = list(self._children)
        for child in children:
            kill(child)


def build_parent_death_command(parent: int, death_signal: signal.Signals = signal.SIGKILL) -> list[str]:
    """Return the prefix for a command that gets the signal when its parent ends; 0 is the process that starts it."""
    return [sys.executable, "-I", "-S", str(_SHIM), str(int(death_signal)), str(parent)]


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


def start_detached(command: list[str], environment: dict[str, str], log: Path) -> int:
    """Start a command that outlives this process, append its output to a log file, and return its process id."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    # The server outlives this process, which never waits for it.
    child.returncode = 0
    return child.pid


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child with its process group, and wait for it."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


def tail(log: Path, lines: int = 20) -> str:
    """Return the last lines of a log file; an empty string where it cannot be read."""
    try:
        return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
