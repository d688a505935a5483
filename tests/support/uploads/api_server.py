"""The API with its handlers in this process, for other processes: every request is that of one user."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.api.client import Client


@contextmanager
def serve_api(client: Client) -> Iterator[str]:
    """Serve it for the block; gives the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on("GET", b"")

        def do_POST(self) -> None:
            self._pass_on("POST", self.rfile.read(int(self.headers["Content-Length"])))

        def _pass_on(self, method: str, raw: bytes) -> None:
            named = {name: self.headers[name] for name in ("Idempotency-Key", "Content-Type") if name in self.headers}
            reply = client.call(method, self.path, raw or None, **{name.lower(): each for name, each in named.items()})
            body = json.dumps(reply.json).encode()
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
