"""A proxy on a free port of 127.0.0.1 that keeps requests and how they were answered.

Guarantees that requests arrive and answers come back as they were sent, but for the headers of one connection.
Requests are kept whole only where they are POSTs: what is PUT is files.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from urllib3 import HTTPConnectionPool, connection_from_url
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

_OF_ONE_CONNECTION = frozenset({"connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding"})


@dataclass(frozen=True)
class Seen:
    """A request: its path and query as they were sent, its headers by their names in lower case."""

    method: str
    uri: str
    headers: Mapping[str, str]
    body: bytes
    status: int


class _AsGiven(Response):
    """An answer without a content type has none."""

    default_mimetype = None


@dataclass
class RecordingProxy:
    """Passes on to `target`, which may be set later than requests are awaited; `seen` is in the order of answers."""

    target: str = ""
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    _pool: HTTPConnectionPool | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Response:
        """What the target answers."""
        uri, body = str(request.environ["REQUEST_URI"]), request.get_data()
        # Part of the signature of a presigned request.
        host = {"Host": request.host} if "X-Amz-Signature=" in uri else {}
        given = self._connections().urlopen(
            request.method,
            uri,
            body=body,
            headers=dict(_kept(request.headers.items())) | host,
            retries=False,
            redirect=False,
            decode_content=False,
        )
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(Seen(request.method, uri, headers, body if request.method == "POST" else b"", given.status))
        # As a list, whose length is not made out to be that of the object: what answers HEAD is empty.
        return _AsGiven([given.data], given.status, list(_kept(given.headers.items())))

    def _connections(self) -> HTTPConnectionPool:
        with self._lock:
            self._pool = self._pool or connection_from_url(self.target, maxsize=50, timeout=60)
            return self._pool

    def close(self) -> None:
        """Let go of the target."""
        if self._pool:
            self._pool.close()


def _kept(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in headers if name.lower() not in _OF_ONE_CONNECTION)


@contextmanager
def recording_proxy() -> Iterator[RecordingProxy]:
    """A proxy that listens, and whose target is still to be set."""
    proxy = RecordingProxy()
    server = make_server("127.0.0.1", 0, Request.application(proxy.answer), threaded=True)
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True, name="recording-proxy")
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        proxy.close()
