"""A worker that runs a built function as AWS does: under its runtime interface emulator, with its runtime client.

Guaranteed, as in `worker`: one invocation at a time; a worker that timed out is killed; the error of a function or of
its process is raised as InvocationFailedError; no process outlives the worker or the process that started it.
Differences from Lambda: the runtime starts with the first invocation and within its timeout, which is rounded to whole
seconds. The emulator distinguishes an error from a response by the body only: a response with exactly the members of
Lambda's error object, request id included, counts as an error.
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any

import psutil

from local.errors import LocalError
from local.lambda_runtime.invocation import Invocation
from local.lambda_runtime.worker import INIT_SECONDS, INIT_TIMEOUT, Worker
from local.services.processes import Processes, build_parent_death_command

_PATH = "/2015-03-31/functions/function/invocations"
_TIMED_OUT = b"Task timed out after "
_ERROR = {"errorType", "errorMessage", "requestId", "stackTrace"}
_POLL_SECONDS = 0.01
# The emulator itself responds when the timeout is over.
_GRACE_SECONDS = 10.0
_PORTS = range(20_000, 32_000)


class EmulatedWorker(Worker):
    """A started emulator, which starts the runtime client with the first invocation."""

    def _start(self, processes: Processes) -> subprocess.Popen[bytes]:
        artifact = self._spec.artifact
        assert artifact is not None  # noqa: S101 - the pool chooses this class by it
        self._port, runtime_port = _ports.take(), _ports.take()
        # By default the emulator listens on all interfaces.
        emulator = [str(artifact.emulator), "--runtime-interface-emulator-address", f"127.0.0.1:{self._port}"]
        emulator += ["--runtime-api-address", f"127.0.0.1:{runtime_port}"]
        # Without site-packages: a function must not import what is installed on this machine.
        runtime = [str(artifact.interpreter), "-S", "-s", "-m", "awslambdaric", self._spec.handler]
        return processes.start(
            # The emulator starts the runtime in a separate process group, which a kill of the emulator's group misses.
            [*emulator, *build_parent_death_command(0), *runtime],
            environment=self._spec.environment,
            directory=self._spec.directory,
            log=self._spec.log,
        )

    def _handle(self, invocation: Invocation) -> bytes:
        self._await_ready()
        invocation.mark_fetched()
        try:
            status, body = self._post(invocation)
        except TimeoutError:
            raise self._fail_by_timeout(invocation) from None
        except (OSError, HTTPException) as exc:
            raise self._give_up("Runtime.ExitError", f"the emulator closed the connection: {exc}") from exc
        if body.startswith(_TIMED_OUT):
            raise self._fail_by_timeout(invocation)
        if failure := _parse_failure(status, body):
            raise self._build_failure(*failure)
        return body

    def _await_ready(self) -> None:
        """Wait until this emulator, and not another process, listens on its port."""
        deadline = time.monotonic() + INIT_SECONDS
        while not self._is_listening():
            if self._broken:
                raise self._broken
            if time.monotonic() > deadline:
                raise self._give_up(INIT_TIMEOUT, f"the emulator was not ready after {INIT_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)

    def _is_listening(self) -> bool:
        with suppress(psutil.Error):
            sockets = psutil.Process(self.pid).net_connections("tcp4")
            return any(each.status == psutil.CONN_LISTEN and each.laddr.port == self._port for each in sockets)
        return False

    def _post(self, invocation: Invocation) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=invocation.timeout + _GRACE_SECONDS)
        try:
            connection.request("POST", _PATH, invocation.payload)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def _kill(self) -> None:
        """Kill the runtime first, so that the emulator reaps it and it is not left as an orphan."""
        runtimes: list[psutil.Process] = []
        with suppress(psutil.Error):
            runtimes = psutil.Process(self.pid).children(recursive=True)
        for each in runtimes:
            with suppress(psutil.Error):
                each.kill()
        psutil.wait_procs(runtimes, timeout=_GRACE_SECONDS)
        super()._kill()

    def _release(self) -> None:
        """Do nothing: its ports are not used again."""


def _parse_failure(status: int, body: bytes) -> tuple[str, str, Any] | None:
    """Return type, message and stack trace of an error response of the emulator, or None for a success."""
    try:
        response = json.loads(body)
    except ValueError:
        return "Runtime.UnknownReason", body.decode("utf-8", errors="replace"), None
    if status == HTTPStatus.OK and not (isinstance(response, dict) and set(response) == _ERROR):
        return None
    return str(response.get("errorType")), str(response.get("errorMessage")), response.get("stackTrace")


class _Ports:
    """Free ports of 127.0.0.1; each is used once, so that two emulators of this process never share one.

    They are below the ephemeral port range, whose ports outgoing connections take at any time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unused = random.sample(_PORTS, len(_PORTS))

    def take(self) -> int:
        """Return a port that is free now; raise LocalError if none is left."""
        with self._lock:
            while self._unused:
                port = self._unused.pop()
                with suppress(OSError), socket.create_server(("127.0.0.1", port)):
                    return port
        raise LocalError(
            f"no port from {_PORTS.start} to {_PORTS.stop - 1} of 127.0.0.1 is free; end programs that use them"
        )


_ports = _Ports()
