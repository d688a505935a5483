"""Where a custom resource answers CloudFormation: a server that remembers the responses, and may fail first."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


@dataclass
class Answers:
    """The answers that got through, at `url`; the statuses are given first, to as many others."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def only(self) -> dict[str, Any]:
        """The one answer that there is."""
        (body,) = self.bodies
        return dict(json.loads(body))


@contextmanager
def answers() -> Iterator[Answers]:
    """CloudFormation's side."""
    made = Answers()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = made.statuses.pop(0) if made.statuses else 200
            if status == 200:
                made.bodies.append(body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        made.url = f"http://127.0.0.1:{server.server_address[1]}/answer?X-Amz-Signature=a%2Fb"
        yield made
        server.shutdown()
        thread.join()
