"""S3 and SQS with a response time that does not depend on the stored data, for measuring how cost grows.

moto is not suitable: its S3 reads the whole object for every range, and its SQS scans all messages for each one sent.
Here an object is a file, whose ranges are sent by the kernel, and messages are discarded.
Guaranteed: ranges and their lengths as in S3. Not guaranteed: any request that imports do not make.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.imports.range_server import PIECE, send_range
from local.services.aws import LocalAws
from local.services.processes import build_child_environment

_TOPIC = (
    "<CreateTopicResponse><CreateTopicResult><TopicArn>arn:aws:sns:us-east-1:123456789012:events</TopicArn>"
    "</CreateTopicResult></CreateTopicResponse>"
)


class SteadyAws(LocalAws):
    """The server, in another process, and its clients."""

    def launch(self) -> None:
        """Start the server without waiting for it; objects are stored beside its log."""
        objects = self._log.with_name("objects")
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

    def handle_expect_100(self) -> bool:
        """Send `100 Continue` at once: a client waits up to a second for it."""
        result = super().handle_expect_100()
        self.wfile.flush()
        return result

    def do_PUT(self) -> None:
        """Store an object; requests to create or configure a bucket succeed without effect."""
        left = int(self.headers.get("Content-Length", 0))
        with self._object().open("wb") as file:
            while left:
                left -= file.write(self.rfile.read(min(PIECE, left)))
        self._respond(200)

    def do_HEAD(self) -> None:
        """Send the size of an object."""
        path = self._object()
        self._respond(200, length=path.stat().st_size) if path.exists() else self._respond(404)

    def do_GET(self) -> None:
        """Send a range of an object."""
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
    handler = type("Handler", (_Handler,), {"objects": objects})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
