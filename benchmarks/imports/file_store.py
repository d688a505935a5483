"""An S3 server whose objects are files, with little memory: ranges, single and multipart uploads.

It counts the bytes that are read of one object. Nothing is listed, so nothing is deleted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from benchmarks.imports.range_server import PIECE, send_range

_NO_OBJECTS = b"<ListVersionsResult><IsTruncated>false</IsTruncated></ListVersionsResult>"


class FileStore:
    """The objects in a folder; `bytes_read` counts those of the object `counted`, `furthest` is the last of them."""

    def __init__(self, folder: Path, counted: str) -> None:
        self.url = ""
        self.folder, self.counted = folder, counted
        self.bytes_read = self.furthest = 0
        self._lock = threading.Lock()

    def find(self, key: str) -> Path:
        """Return the file of an object."""
        return self.folder / key.strip("/").replace("/", "_")

    def count(self, path: Path, start: int, end: int) -> None:
        """Count a range that is read."""
        if path == self.find(self.counted):
            with self._lock:
                self.bytes_read += end - start
                self.furthest = max(self.furthest, end)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: FileStore

    def handle(self) -> None:
        """Answer requests until the client ends the connection, or is killed."""
        with suppress(ConnectionError):
            super().handle()

    def do_HEAD(self) -> None:
        self._answer(200, b"", {"Content-Length": str(self._path().stat().st_size)})

    def do_GET(self) -> None:
        if "versions" in self._query():
            self._answer(200, _NO_OBJECTS)
            return
        path = self._path()
        if not path.exists():
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        size = path.stat().st_size
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last) + 1, size)
        self._answer(206, b"", {"Content-Length": str(end - start), "Content-Range": f"bytes {start}-{end - 1}/{size}"})
        self.store.count(path, start, end)
        send_range(self, path, start, end)

    def do_PUT(self) -> None:
        left = int(self.headers.get("X-Amz-Decoded-Content-Length") or self.headers["Content-Length"])
        with self._path(self._query().get("partNumber", [""])[0]).open("wb") as file:
            while left > 0:
                file.write(piece := self.rfile.read(min(PIECE, left)))
                left -= len(piece)
        self._answer(200, b"", {"ETag": '"etag"'})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "uploads" in self._query():
            self._answer(200, b"<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
            return
        parts = sorted(self._path().parent.glob(f"{self._path().name}.part*"), key=lambda part: int(part.suffix[5:]))
        with self._path().open("wb") as file:
            for part in parts:
                file.write(part.read_bytes())
                part.unlink()
        self._answer(200, b"<CompleteMultipartUploadResult><ETag>etag</ETag></CompleteMultipartUploadResult>")

    def _path(self, part: str = "") -> Path:
        path = self.store.find(urlsplit(self.path).path)
        return path.with_name(f"{path.name}.part{part}") if part else path

    def _query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True)

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


@contextmanager
def serve_folder(folder: Path, counted: str) -> Iterator[FileStore]:
    """Serve the folder for the block; `counted` is the path of the object whose reads are counted."""
    store = FileStore(folder, counted)
    handler = type("Handler", (_Handler,), {"store": store})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        store.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield store
        finally:
            server.shutdown()
            thread.join()
