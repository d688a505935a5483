"""The process that plays S3, SQS and SNS: moto's server on a free port of 127.0.0.1, which it prints first.

It ends when its standard input does, which is when its parent ends, however that happens.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys

from moto.server import ThreadedMotoServer

from local.faithful_moto import make_faithful


def main(arguments: list[str]) -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--time-factor", type=float, default=1.0)
    options = parser.parse_args(arguments)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    make_faithful(options.time_factor)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
