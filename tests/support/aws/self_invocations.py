"""Lambda as far as a function invokes itself: a server that accepts events and remembers them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


@dataclass
class Invocations:
    """The events that were accepted, with the path that names the function; `status` is the answer to each."""

    url: str = ""
    status: int = 202
    paths: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def invocations() -> Iterator[Invocations]:
    """Lambda's side."""
    made = Invocations()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["X-Amz-Invocation-Type"] == "Event"
            if made.status == 202:
                made.paths.append(self.path)
                made.events.append(json.loads(body))
            self.send_response(made.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        made.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield made
        server.shutdown()
        thread.join()
