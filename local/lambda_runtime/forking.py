"""The stack's side of the fork server: start worker processes in milliseconds, watch them and kill them.

Guaranteed: a started process has a single end with a single exit status, even if the fork server itself is killed; a
fork server that ended is replaced at the next start.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.errors import ProcessFailedError
from local.services.processes import Processes, build_child_environment, kill, tail

if TYPE_CHECKING:
    from local.template.reader import Template

# AWS's runtime client. A module that replaces it must run it in the end; its only argument is the handler.
RUNTIME_CLIENT = "awslambdaric"
_SERVER = Path(__file__).with_name("fork_server.py")
# The handlers of an import, in the order in which they are invoked.
IMPORT_HANDLERS = (
    *("cases_api", "imports_api", "start_import", "import_results_api"),
    *("import_chunk", "publish_outbox", "complete_import", "write_import_report"),
)
# With what they import when they are called; every other handler shares most of that. All that they read of a
# function's variables while they are imported has one of the prefixes. Not AWS's runtime client, only what it imports:
# each worker has an address of its own, which that reads.
PRELOADED = (
    *IMPORT_HANDLERS,
    *("boto3.s3.transfer", "sqlalchemy.dialects.mysql.pymysql", "pymysql", "tenacity", "regex"),
    *("simplejson", "encodings.idna"),
)
SERVICES = ("s3", "sqs", "sns")
READ_ON_IMPORT = ("PYTHON", "POWERTOOLS_")
_START_SECONDS = 120.0
_END_SECONDS = 10.0


FORK_LOG = "fork-server.log"


class ForkedProcess:
    """A process that the fork server started; has the part of `subprocess.Popen` that workers use."""

    def __init__(self, pid: int, server: _Server) -> None:
        self.pid = pid
        self.status: Future[int] = Future()
        self._server = server

    def wait(self) -> int:
        """Wait for its end; return its exit code, or a signal's number, negative."""
        return self.status.result()

    def kill(self) -> None:
        """Kill it with all processes that it started, and wait for its end."""
        if not self.status.done():
            self._server.send({"kill": self.pid})
        self.wait()


class ForkServer:
    """Forks processes for a template's functions, with their import path.

    `launch` begins to import what they need of packages, and `configure`, which comes before `start`, the functions'
    modules. Of the functions' variables it has those that modules read while they are imported, as any one of them has
    these.
    """

    def __init__(self, processes: Processes, log: Path) -> None:
        self._environment = build_child_environment() | {"TZ": "UTC"}
        self._template: Template | None = None
        self._processes = processes
        self._log = log
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._stopped = False

    def configure(self, template: Template) -> None:
        """Have the modules of the template's functions imported, unless that was done."""
        with self._lock:
            if self._template:
                return
            self._template = template
            self._environment["PYTHONPATH"] = os.pathsep.join(map(str, template.import_roots))
            for function in list(template.functions)[:1]:
                variables = template.environment(function, "")
                self._environment |= {n: v for n, v in variables.items() if n.startswith(READ_ON_IMPORT)}
            if self._server:
                self._server.send(self._build_configuration(template))

    def can_start(self, environment: Mapping[str, str]) -> bool:
        """Return whether a process with these variables can be forked: what was read of them before the fork agrees."""
        names = {name for name in (*self._environment, *environment) if name.startswith(READ_ON_IMPORT)}
        return sys.platform == "linux" and all(self._environment.get(n) == environment.get(n) for n in names)

    def launch(self) -> None:
        """Start the fork server, unless it runs, without waiting for it."""
        self._get_server()

    def start(
        self, module: str, handler: str, environment: Mapping[str, str], directory: Path, log: Path
    ) -> ForkedProcess:
        """Run a module as a program, with the handler as its only argument; raise ProcessFailedError if it fails."""
        request = {"module": module, "handler": handler, "environment": dict(environment)}
        return self._get_server().start(request | {"directory": str(directory), "log": str(log)})

    def stop(self) -> None:
        """End the fork server and every process that it started; afterwards none can be started."""
        with self._lock:
            self._stopped = True
            if self._server:
                self._server.stop()

    def _get_server(self) -> _Server:
        with self._lock:
            if self._stopped:
                raise ProcessFailedError("the fork server has stopped")
            if self._server is None or self._server.has_ended:
                self._server = _Server(self._launch(), self._log)
                if self._template:
                    self._server.send(self._build_configuration(self._template))
            return self._server

    def _build_configuration(self, template: Template) -> dict[str, Any]:
        roots = [str(root) for root in template.import_roots]
        return {"roots": roots, "environment": self._environment, "modules": PRELOADED}

    def _launch(self) -> subprocess.Popen[bytes]:
        # -P: the folder of the script is not on the import path of the functions.
        command = [sys.executable, "-P", str(_SERVER), *SERVICES]
        return self._processes.start(command, environment=self._environment, log=self._log, pipes=True)


class _Server:
    """One process of the fork server."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log
        self._ids = itertools.count()
        self._lock = threading.Lock()
        self._starting: dict[int, Future[ForkedProcess]] = {}
        self._running: dict[int, ForkedProcess] = {}
        self.has_ended = False
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"fork-server-{process.pid}")
        self._reader.start()

    def start(self, request: Mapping[str, Any]) -> ForkedProcess:
        started: Future[ForkedProcess] = Future()
        with self._lock:
            if self.has_ended:
                raise self._build_error()
            number = next(self._ids)
            self._starting[number] = started
        self.send({"start": number, **request})
        try:
            return started.result(_START_SECONDS)
        except TimeoutError as exc:
            # It hangs: the next start has a new one, and no late fork of this one is left without an owner.
            kill(self._process)
            raise self._build_error() from exc

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a request; one to a server that has ended is dropped, since its processes have ended too."""
        assert self._process.stdin is not None  # noqa: S101 - started with pipes
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        """End it: by itself, after its processes, when its standard input is closed; one that hangs is killed."""
        assert self._process.stdin is not None  # noqa: S101 - started with pipes
        with self._lock, contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        kill(self._process)
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - started with pipes
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stdout:
                self._receive(json.loads(line))
        self._end()

    def _receive(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            if "failed" in message:
                error = ProcessFailedError(f"a worker could not be forked: {message['error']}")
                self._starting.pop(message["failed"]).set_exception(error)
            elif "started" in message:
                child = self._running[message["pid"]] = ForkedProcess(message["pid"], self)
                self._starting.pop(message["started"]).set_result(child)
            else:
                self._running.pop(message["pid"]).status.set_result(message["status"])

    def _end(self) -> None:
        """Report the end of everything: the kernel kills the processes when the server ends."""
        with self._lock:
            self.has_ended = True
            starting, self._starting = self._starting, {}
            running, self._running = self._running, {}
        for future in starting.values():
            future.set_exception(self._build_error())
        for child in running.values():
            child.status.set_result(-signal.SIGKILL)

    def _build_error(self) -> ProcessFailedError:
        return ProcessFailedError(f"the fork server did not start a process; {self._log} ends with:\n{tail(self._log)}")
