"""An S3 server with one object, read from a file by ranges; sufficient for the splitter, with little memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PIECE = 1 << 20


def send_range(handler: BaseHTTPRequestHandler, path: Path, start: int, end: int) -> None:
    """Send the bytes [start, end) of a file with sendfile, without copying them to this process."""
    with path.open("rb") as file:
        while start < end:
            start += os.sendfile(handler.connection.fileno(), file.fileno(), start, min(PIECE, end - start))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    path_of_object: Path

    def do_HEAD(self) -> None:
        self._head(200, self.path_of_object.stat().st_size)

    def do_GET(self) -> None:
        size = self.path_of_object.stat().st_size
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last) + 1, size)
        self._head(206, end - start, f"bytes {start}-{end - 1}/{size}")
        send_range(self, self.path_of_object, start, end)

    def _head(self, status: int, length: int, content_range: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", '"etag"')
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


@contextmanager
def serve_file(path: Path) -> Iterator[str]:
    """Serve the file for the block, as every object of an S3 server, and yield the server's URL."""
    handler = type("Handler", (_Handler,), {"path_of_object": path})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
