"""Where a custom resource answers CloudFormation, on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    answers: list[dict[str, Any]]

    def do_PUT(self) -> None:
        self.answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing."""


@contextmanager
def answering() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address to answer at, and what was answered there."""
    answers: list[dict[str, Any]] = []
    with HTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"answers": answers})) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/answer", answers
        server.shutdown()
        thread.join()
