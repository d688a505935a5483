"""Run moto's server for S3, SQS and SNS on a free port of 127.0.0.1, and print its URL as the first line.

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


def main(arguments: list[str]) -> None:
    """Serve until standard input is closed."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--time-factor", type=float, default=1.0)
    options = parser.parse_args(arguments)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # Collecting garbage while modules are imported finds none, and takes a tenth of the time.
    gc.disable()
    _serve(options.time_factor)
    gc.enable()
    sys.stdin.buffer.read()
    os._exit(0)


def _serve(time_factor: float) -> None:
    from moto.server import ThreadedMotoServer

    from local.services.aws_resources import create_resources
    from local.services.moto_patches import patch_moto
    from local.services.moto_shortcuts import shorten_moto

    patch_moto(time_factor)
    shorten_moto()
    create_resources(json.loads(sys.stdin.buffer.readline()))
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
