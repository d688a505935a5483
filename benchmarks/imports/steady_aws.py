"""S3 and SQS with a response time that does not depend on the stored data, for measuring how cost grows.

moto is not suitable: its S3 reads the whole object for every range, and its SQS scans all messages for each one sent.
Here an object is a file, whose ranges are sent by the kernel, and messages are discarded.
Guaranteed: ranges and their lengths as in S3, listings of versions. Not guaranteed: several versions of an object,
conditions, and any request that imports do not make.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from bisect import bisect_right, insort
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from benchmarks.imports.range_server import PIECE, send_range
from local.services.aws import LocalAws
from local.services.processes import build_child_environment

_TOPIC = (
    "<CreateTopicResponse><CreateTopicResult><TopicArn>arn:aws:sns:us-east-1:123456789012:events</TopicArn>"
    "</CreateTopicResult></CreateTopicResponse>"
)


# A PUT here adds objects without content to the lists: the body has their keys and sizes as JSON.
LISTED = "/listed-objects"
_VERSION = (
    "<Version><Key>{key}</Key><VersionId>1</VersionId><IsLatest>true</IsLatest><ETag>etag</ETag><Size>{size}</Size>"
    "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Version>"
)


class SteadyAws(LocalAws):
    """The server, in another process, and its clients."""

    def launch(self) -> None:
        """Start the server without waiting for it; objects are stored in its folder."""
        objects = self.storage
        objects.mkdir()
        command = [sys.executable, "-m", "benchmarks.imports.steady_aws", str(objects)]
        environment = build_child_environment() | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        self._server = self._processes.start(command, environment=environment, log=self._log, pipes=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # With Nagle's algorithm a response of two writes would wait for the acknowledgement of the first.
    disable_nagle_algorithm = True
    wbufsize = -1
    objects: Path
    # In their order, in which they are listed, and how many bytes they have.
    keys: list[str]
    sizes: dict[str, int]
    lock = threading.Lock()

    def handle_expect_100(self) -> bool:
        """Send `100 Continue` at once: a client waits up to a second for it."""
        result = super().handle_expect_100()
        self.wfile.flush()
        return result

    def do_PUT(self) -> None:
        """Store an object; requests to create or configure a bucket succeed without effect."""
        left = int(self.headers.get("Content-Length", 0))
        if self.path == LISTED:
            self._index(json.loads(self.rfile.read(left)))
            self._respond(200)
            return
        self._index({unquote(urlsplit(self.path).path).lstrip("/").partition("/")[2]: left})
        with self._object().open("wb") as file:
            while left:
                left -= file.write(self.rfile.read(min(PIECE, left)))
        self._respond(200)

    def do_HEAD(self) -> None:
        """Send the size of an object."""
        path = self._object()
        self._respond(200, length=path.stat().st_size) if path.exists() else self._respond(404)

    def do_GET(self) -> None:
        """Send a range of an object, or a page of a list of versions."""
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "versions" in query:
            self._respond(200, self._list({name: values[0] for name, values in query.items()}))
            return
        path = self._object()
        if not path.exists():
            self._respond(404)
            return
        size = path.stat().st_size
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last) + 1, size)
        self._respond(206, length=end - start, content_range=f"bytes {start}-{end - 1}/{size}")
        send_range(self, path, start, end)

    def do_POST(self) -> None:
        """Respond to requests for SQS and SNS."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        action = self.headers.get("X-Amz-Target", "").partition(".")[2]
        self._respond(200, json.dumps(self._handle(action, json.loads(body))) if action else _TOPIC)

    def _handle(self, action: str, request: dict[str, Any]) -> dict[str, Any]:
        if action == "CreateQueue":
            return {"QueueUrl": f"http://{self.headers['Host']}/queues/{request['QueueName']}"}
        successful = [
            {"Id": entry["Id"], "MessageId": "1", "MD5OfMessageBody": ""} for entry in request.get("Entries", ())
        ]
        return {"Successful": successful, "Failed": []} if action == "SendMessageBatch" else {}

    def _index(self, objects: Mapping[str, int]) -> None:
        with self.lock:
            for key, size in objects.items():
                if key and key not in self.sizes:
                    insort(self.keys, key)
                self.sizes[key] = size

    def _list(self, query: dict[str, str]) -> str:
        prefix, most = query["prefix"], int(query["max-keys"])
        with self.lock:
            start = bisect_right(self.keys, max(query.get("key-marker", ""), prefix))
            found = [key for key in self.keys[start : start + most + 1] if key.startswith(prefix)]
        listed = "".join(_VERSION.format(key=escape(key), size=self.sizes[key]) for key in found[:most])
        more = len(found) > most
        marker = f"<NextKeyMarker>{escape(found[most - 1])}</NextKeyMarker>" if more else ""
        head = f"<IsTruncated>{str(more).lower()}</IsTruncated>{marker}"
        return f"<ListVersionsResult>{head}{listed}</ListVersionsResult>"

    def _object(self) -> Path:
        return self.objects / hashlib.sha256(self.path.partition("?")[0].encode()).hexdigest()

    def _respond(self, status: int, body: str = "", length: int = 0, content_range: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        self.send_header("ETag", '"etag"')
        self.send_header("x-amz-version-id", "1")
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        self.wfile.write(body.encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


def main(objects: Path) -> None:
    """Print the server's URL, then serve until standard input is closed, which happens when the parent ends."""
    handler = type("Handler", (_Handler,), {"objects": objects, "keys": [], "sizes": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
