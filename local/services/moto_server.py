"""Run moto's server for S3, SQS and SNS on a free port of 127.0.0.1, and print its URL as the first line.

The process ends when its standard input is closed, which the operating system does when the parent process ends.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys

from moto.server import ThreadedMotoServer

from local.services.moto_patches import patch_moto


def main(arguments: list[str]) -> None:
    """Serve until standard input is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--time-factor", type=float, default=1.0)
    options = parser.parse_args(arguments)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    patch_moto(options.time_factor)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
