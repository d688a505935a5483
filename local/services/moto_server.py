"""Run moto's server for S3, SQS and SNS on a free port of 127.0.0.1, and print its URL as the first line.

What S3 and SQS have answered is in a folder (see `local.storage`), and served again at the next start.

The first line of standard input describes the resources that exist from the start (see `aws_resources`). The process
ends when its standard input is closed, which the operating system does when the parent process ends.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from local.template.account import ACCOUNT_ID, REGION

_EXPIRY_SECONDS = 3600.0


def main(arguments: list[str]) -> None:
    """Serve until standard input is closed."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--time-factor", type=float, default=1.0)
    parser.add_argument("--storage", type=Path, required=True)
    options = parser.parse_args(arguments)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # Collecting garbage while modules are imported finds none, and takes a tenth of the time.
    gc.disable()
    expiring = _serve(options.time_factor, options.storage)
    gc.enable()
    threading.Thread(target=_expire, args=(expiring,), daemon=True).start()
    sys.stdin.buffer.read()
    os._exit(0)


def _serve(time_factor: float, folder: Path) -> list[Callable[[], None]]:
    """Start the server, and return what deletes objects and messages that have expired."""
    from moto.backends import get_backend
    from moto.server import ThreadedMotoServer

    from local.services.aws_resources import create_resources
    from local.services.moto_patches import patch_moto
    from local.services.moto_shortcuts import shorten_moto
    from local.storage.lifecycle import Lifecycle
    from local.storage.storage import Storage

    storage = Storage(folder)
    patch_moto(time_factor, storage)
    shorten_moto()
    resources = json.loads(sys.stdin.buffer.readline())
    create_resources(resources)
    queues: Any = get_backend("sqs")[ACCOUNT_ID][REGION].queues
    restored = list(queues.values())
    for queue in restored:
        queue.restore()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    lifecycles = [Lifecycle(storage, bucket["name"], bucket["expiries"]) for bucket in resources["buckets"]]
    return [*(lifecycle.apply for lifecycle in lifecycles), *(queue.trim for queue in restored)]


def _expire(expiring: Sequence[Callable[[], None]]) -> None:
    """Delete what has expired every hour; a failure is in the log, and does not end the server."""
    while True:
        for expire in expiring:
            try:
                expire()
            except Exception:
                logging.exception("what has expired was not deleted")
        time.sleep(_EXPIRY_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1:])
