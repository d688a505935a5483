"""Send a file in parts to a server where parts fail, in a process that kills itself: `python -m` this module.

The argument is JSON: the file, the URL of a server that returns the state of the upload, the share of requests that
fail, a seed, how many are sent at once, and after how many parts that S3 took the process ends by SIGKILL (0: never).
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import urllib3

from exhibit_ingest.volumes import resuming


class FaultyPool(urllib3.PoolManager):
    """Requests of parts fail at random: before S3 has the part, after it has half of it, or once it has all of it."""

    def __init__(self, share: float, seed: int, end_after: int) -> None:
        super().__init__(maxsize=resuming.AT_ONCE)
        self._random, self._lock = random.Random(seed), threading.Lock()
        self._share, self._end_after = share, end_after
        self.taken = self.failed = 0

    def request(self, method: str, url: str, *arguments: Any, **options: Any) -> Any:
        if method != "PUT":
            return super().request(method, url, *arguments, **options)
        with self._lock:
            fault = self._random.choice(("before", "half", "after")) if self._random.random() < self._share else None
        if fault == "before":
            return self._fail()
        if fault == "half":
            options["body"] = _break(options["body"], int(options["headers"]["Content-Length"]) // 2)
        try:
            reply = super().request(method, url, *arguments, **options)
        except _BrokenError:
            return self._fail()
        self._count()
        return self._fail() if fault == "after" else reply

    def _count(self) -> None:
        with self._lock:
            self.taken += 1
            if self.taken == self._end_after:
                os.kill(os.getpid(), signal.SIGKILL)

    def _fail(self) -> Any:
        with self._lock:
            self.failed += 1
        raise urllib3.exceptions.ProtocolError("the connection was lost")


class _BrokenError(Exception):
    """The body ends early."""


def _break(blocks: Any, most: int) -> Any:
    sent = 0
    for block in blocks:
        if sent + len(block) > most:
            raise _BrokenError
        sent += len(block)
        yield block


def main(arguments: dict[str, Any]) -> None:
    """Send the file; print what it took."""
    resuming._FIRST_PAUSE_S, resuming.ATTEMPTS, resuming.AT_ONCE = 0.0, 30, arguments["atOnce"]
    pool = FaultyPool(arguments["share"], arguments["seed"], arguments["endAfter"])
    states = urllib3.PoolManager()
    sent = resuming.send_missing(
        pool, Path(arguments["file"]), lambda: json.loads(states.request("GET", arguments["state"]).data)
    )
    print(json.dumps({"kept": sent.kept, "sent": sent.sent, "requests": sent.requests, "failed": pool.failed}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
