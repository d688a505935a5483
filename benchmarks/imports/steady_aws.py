"""S3 and SQS whose answers take as long however much they hold, for measuring how cost grows.

moto's do not: its S3 reads the whole object for every range of it, and its SQS looks at all messages for each one that
is sent. Here an object is a file, of which a range is sent by the kernel; and messages are thrown away.
Guaranteed: ranges and their lengths as S3 gives them. Not guaranteed: anything that imports do not ask for.
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
from local.aws import LocalAws
from local.processes import inherited_environment

_TOPIC = (
    "<CreateTopicResponse><CreateTopicResult><TopicArn>arn:aws:sns:us-east-1:123456789012:events</TopicArn>"
    "</CreateTopicResult></CreateTopicResponse>"
)


class SteadyAws(LocalAws):
    """Such a server in a process of its own, and clients for it."""

    def launch(self) -> None:
        """Start the server without waiting for it; objects lie beside its log."""
        objects = self._log.with_name("objects")
        objects.mkdir()
        command = [sys.executable, "-m", "benchmarks.imports.steady_aws", str(objects)]
        environment = inherited_environment() | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        self._server = self._processes.start(command, environment=environment, log=self._log, pipes=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer of two writes would wait for the acknowledgement of the first.
    disable_nagle_algorithm = True
    wbufsize = -1
    objects: Path

    def handle_expect_100(self) -> bool:
        """Say so at once, not with the answer: a client waits a second for it."""
        told = super().handle_expect_100()
        self.wfile.flush()
        return told

    def do_PUT(self) -> None:
        """Store an object; a bucket and its configuration are as good as made."""
        left = int(self.headers.get("Content-Length", 0))
        with self._object().open("wb") as file:
            while left:
                left -= file.write(self.rfile.read(min(PIECE, left)))
        self._answer(200)

    def do_HEAD(self) -> None:
        """The size of an object."""
        path = self._object()
        self._answer(200, length=path.stat().st_size) if path.exists() else self._answer(404)

    def do_GET(self) -> None:
        """A range of an object."""
        path = self._object()
        if not path.exists():
            self._answer(404)
            return
        size = path.stat().st_size
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last) + 1, size)
        self._answer(206, length=end - start, content_range=f"bytes {start}-{end - 1}/{size}")
        send_range(self, path, start, end)

    def do_POST(self) -> None:
        """What SQS and SNS are asked for."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        action = self.headers.get("X-Amz-Target", "").partition(".")[2]
        self._answer(200, json.dumps(self._done(action, json.loads(body))) if action else _TOPIC)

    def _done(self, action: str, asked: dict[str, Any]) -> dict[str, Any]:
        if action == "CreateQueue":
            return {"QueueUrl": f"http://{self.headers['Host']}/queues/{asked['QueueName']}"}
        taken = [{"Id": entry["Id"], "MessageId": "1", "MD5OfMessageBody": ""} for entry in asked.get("Entries", ())]
        return {"Successful": taken, "Failed": []} if action == "SendMessageBatch" else {}

    def _object(self) -> Path:
        return self.objects / hashlib.sha256(self.path.partition("?")[0].encode()).hexdigest()

    def _answer(self, status: int, body: str = "", length: int = 0, content_range: str = "") -> None:
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
        """Nothing."""


def main(objects: Path) -> None:
    """Serve until standard input ends, which is when the parent does; the address is printed first."""
    handler = type("Handler", (_Handler,), {"objects": objects})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
