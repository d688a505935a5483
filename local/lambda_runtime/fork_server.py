"""Fork processes that have modules imported already: `fork_server.py SERVICE...`, run by `forking`.

Guaranteed: to its program a forked process differs from one started with `python -m` only by the modules that are
imported, by boto3's default session, which has read what it knows of the services (no credentials, no connection), by
the hash seed, which all share, and by the import path, which lacks the folder. Its environment, folder, output, session
and signals are its own, and it holds no descriptor of this process. This process has one thread, so a fork copies no
lock that another thread holds. On Linux a forked process is killed when this process ends, however that happens;
elsewhere when this process's standard input is closed.

Each line of standard input is a request, each line of standard output a reply, as JSON objects. The first request,
`{"modules": names, "roots": folders, "environment": variables}`, and `{"kill": pid}` are not answered; `{"start": id,
...}` is answered with `{"started": id, "pid": pid}` or `{"failed": id, "error": text}`, the end of a process reported
as `{"pid": pid, "status": exit code}`. Only the standard library is imported here, and nothing of this repository.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import sys
import time
from typing import Any

_PR_SET_PDEATHSIG = 1
_READ_BYTES = 65536
_MOST_DESCRIPTORS = 65536


class ForkLoop:
    """The loop of this process; `serve` returns in forked processes and when standard input is closed."""

    def __init__(self, requests: int, replies: int) -> None:
        self._requests = requests
        self._replies = replies
        self._pid = os.getpid()
        self._children: set[int] = set()
        self._wake, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> dict[str, Any] | None:
        """Return the request of a forked process, in that process; None in this one, after its last request."""
        incomplete = b""
        while True:
            ready, _, _ = select.select([self._requests, self._wake], [], [])
            if self._wake in ready:
                os.read(self._wake, _READ_BYTES)
                self._report_ended()
            if self._requests not in ready:
                continue
            data = os.read(self._requests, _READ_BYTES)
            if not data:
                self._end_children()
                return None
            *lines, incomplete = (incomplete + data).split(b"\n")
            for line in lines:
                request: dict[str, Any] = json.loads(line)
                if "modules" in request:
                    _import_modules(request)
                elif "kill" in request:
                    self._kill(request["kill"])
                elif self._fork(request["start"]):
                    return request

    def _fork(self, request_id: int) -> bool:
        """Fork; return whether this is the forked process. A fork that fails is a failed start and nothing more."""
        try:
            pid = os.fork()
        except OSError as exc:
            self._reply({"failed": request_id, "error": str(exc)})
            return False
        if not pid:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            _end_with(self._pid)
            return True
        self._children.add(pid)
        self._reply({"started": request_id, "pid": pid})
        return False

    def _kill(self, *pids: int) -> None:
        """Kill children with all processes that they started; one that was reaped is left alone."""
        for pid in self._children.intersection(pids):
            # The group exists once the child has made itself the leader of its session.
            for kill in (os.kill, os.killpg):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(pid, signal.SIGKILL)

    def _end_children(self) -> None:
        """Kill every child and wait for its end, so that none outlives this process, not even as a zombie."""
        self._kill(*self._children)
        for pid in self._children:
            os.waitpid(pid, 0)

    def _report_ended(self) -> None:
        for pid in list(self._children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._children.discard(pid)
                self._reply({"pid": pid, "status": os.waitstatus_to_exitcode(status)})

    def _reply(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._replies, json.dumps(message).encode() + b"\n")


def _end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def _take_pipes() -> tuple[int, int]:
    """Return the descriptors of requests and replies, moved away from standard input and output.

    What an imported module prints goes to standard error.
    """
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, replies


def _become(request: dict[str, Any]) -> None:
    """Take on the environment, the folder and the output of the request, and close everything else."""
    log = os.open(request["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.closerange(3, _MOST_DESCRIPTORS)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv = [request["module"], request["handler"]]


def _read_services(services: list[str]) -> None:
    """Have boto3's default session read the models of the services, which takes longest when a client is made.

    Nothing is kept of these clients: what is passed to one is no setting of the session.
    """
    boto3 = importlib.import_module("boto3")
    placeholder = {"region_name": "us-east-1", "aws_access_key_id": "none", "aws_secret_access_key": "none"}
    for service in services:
        boto3.client(service, **placeholder)


def _import_modules(request: dict[str, Any]) -> None:
    """Import the modules, with their folders in the place that PYTHONPATH gives them."""
    os.environ.update(request["environment"])
    sys.path[:0] = request["roots"]
    for name in request["modules"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What is imported stays: no child searches it for garbage, and so copies its pages.
    gc.freeze()
    gc.enable()


def main(services: list[str]) -> None:
    """Read the services, then import modules and fork processes as requested."""
    requests, replies = _take_pipes()
    # Collecting garbage while modules are imported finds none, and takes a tenth of the time.
    gc.disable()
    _read_services(services)
    request = ForkLoop(requests, replies).serve()
    if request is None:
        # Nothing is left to do: an ordinary exit would take a quarter of a second to free what was imported.
        os._exit(0)
    _become(request)
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
