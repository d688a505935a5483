"""A worker that runs a built function as AWS does: under its runtime interface emulator, with its runtime client.

Guarantees what `local.worker` does: one invocation at a time, a worker that timed out is killed, what a function or its
process says of a failure is raised as InvocationFailed, and nothing outlives the worker or the process that holds it.
Differences from Lambda: the runtime starts with the first invocation and within its time-out, which is rounded to whole
seconds. The emulator tells a failure from an answer by the body alone: an answer that has exactly the members of
Lambda's error, request id and all, is taken for one.
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
from local.invocation import Invocation
from local.processes import Processes, dies_with
from local.worker import INIT_SECONDS, Worker

_PATH = "/2015-03-31/functions/function/invocations"
_TIMED_OUT = b"Task timed out after "
_ERROR = {"errorType", "errorMessage", "requestId", "stackTrace"}
_LOOK_SECONDS = 0.01
# The emulator answers at the time-out itself.
_GRACE_SECONDS = 10.0
_PORTS = range(20_000, 32_000)


class EmulatedWorker(Worker):
    """A started emulator; its process starts the runtime client with the first invocation."""

    def _start(self, processes: Processes) -> subprocess.Popen[bytes]:
        artifact = self._spec.artifact
        assert artifact is not None  # noqa: S101 - this kind is chosen by it
        self._port, runtime_port = _ports.take(), _ports.take()
        # Both addresses, for by default it listens on all interfaces.
        emulator = [str(artifact.emulator), "--runtime-interface-emulator-address", f"127.0.0.1:{self._port}"]
        emulator += ["--runtime-api-address", f"127.0.0.1:{runtime_port}"]
        # Without site-packages: of what this machine has installed, a function must find nothing.
        runtime = [str(artifact.interpreter), "-S", "-s", "-m", "awslambdaric", self._spec.handler]
        return processes.start(
            # The emulator puts the runtime into a process group of its own, which killing the emulator's misses.
            [*emulator, *dies_with(0), *runtime],
            environment=self._spec.environment,
            directory=self._spec.directory,
            log=self._spec.log,
        )

    def _handle(self, invocation: Invocation) -> bytes:
        self._await_ready()
        invocation.fetch()
        try:
            status, body = self._post(invocation)
        except TimeoutError:
            raise self._timed_out(invocation) from None
        except (OSError, HTTPException) as exc:
            raise self._give_up("Runtime.ExitError", f"the emulator hung up: {exc}") from exc
        if body.startswith(_TIMED_OUT):
            raise self._timed_out(invocation)
        if failure := _failure(status, body):
            raise self._failure(*failure)
        return body

    def _await_ready(self) -> None:
        """Wait until this process, and no other, listens on its port."""
        deadline = time.monotonic() + INIT_SECONDS
        while not self._listens():
            if self._broken:
                raise self._broken
            if time.monotonic() > deadline:
                raise self._give_up("Runtime.InitTimeout", f"the emulator was not ready after {INIT_SECONDS:.0f} s")
            time.sleep(_LOOK_SECONDS)

    def _listens(self) -> bool:
        with suppress(psutil.Error):
            sockets = psutil.Process(self.pid).net_connections("tcp4")
            return any(each.status == psutil.CONN_LISTEN and each.laddr.port == self._port for each in sockets)
        return False

    def _post(self, invocation: Invocation) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=invocation.timeout + _GRACE_SECONDS)
        try:
            connection.request("POST", _PATH, invocation.payload)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _kill(self) -> None:
        """The runtime first: the emulator collects it, which else would be left to whoever adopts orphans."""
        runtimes: list[psutil.Process] = []
        with suppress(psutil.Error):
            runtimes = psutil.Process(self.pid).children(recursive=True)
        for each in runtimes:
            with suppress(psutil.Error):
                each.kill()
        psutil.wait_procs(runtimes, timeout=_GRACE_SECONDS)
        super()._kill()

    def _release(self) -> None:
        """Its ports are not used again."""


def _failure(status: int, body: bytes) -> tuple[str, str, Any] | None:
    """Type, message and stack trace where an answer of the emulator tells of a failure."""
    try:
        answer = json.loads(body)
    except ValueError:
        return "Runtime.UnknownReason", body.decode("utf-8", errors="replace"), None
    if status == HTTPStatus.OK and not (isinstance(answer, dict) and set(answer) == _ERROR):
        return None
    return str(answer.get("errorType")), str(answer.get("errorMessage")), answer.get("stackTrace")


class _Ports:
    """Free ports of 127.0.0.1, each given once: two emulators of this process never meet on one.

    They lie below those that systems give to outgoing connections, which would come and go in between.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = random.sample(_PORTS, len(_PORTS))

    def take(self) -> int:
        """A port that is free now; raises LocalError where none is left."""
        with self._lock:
            while self._left:
                port = self._left.pop()
                with suppress(OSError), socket.create_server(("127.0.0.1", port)):
                    return port
        raise LocalError("no free port on 127.0.0.1")


_ports = _Ports()
