"""Requests to presigned URLs: the bytes are read while they are sent, and never held.

Guaranteed: an answer is returned or an exception raised within the time limit after the last byte moved; nothing of a
URL is in a message. Not guaranteed: that a request without an answer had no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import httpx

from exhibit_ingest.uploads.faults import Answer
from exhibit_ingest.uploads.limits import RateLimit

_LONGEST_ANSWER = 65_536
# With each part, S3 returns the checksum that it has computed (Amazon S3 User Guide, "Multipart upload process").
_CRC = "x-amz-checksum-crc64nvme"


@dataclass(frozen=True)
class Body:
    """What to send: blocks of `size` bytes together. `on_sent` gets the bytes that were sent so far."""

    blocks: Iterable[bytes]
    size: int
    on_sent: Callable[[int], None]
    wait: Callable[[float], object]


class Storage:
    """Sends over one client, which threads share; after `stall_s` without a byte a connection counts as lost.

    The storage puts an object of many parts together in minutes, so a POST may take five times as long.
    """

    def __init__(self, http: httpx.Client, limit: RateLimit, stall_s: float = 60.0) -> None:
        self._http, self._limit, self._stall_s = http, limit, stall_s

    def put(self, url: str, body: Body, headers: dict[str, str]) -> Answer:
        """PUT bytes. Raises httpx.TransportError, and what reading the blocks raises."""
        named = {"Content-Type": "application/octet-stream", **headers}
        return self._send("PUT", url, body, named, self._stall_s)

    def post(self, url: str, body: Body, headers: dict[str, str]) -> Answer:
        """POST a document of XML. Raises httpx.TransportError."""
        return self._send("POST", url, body, {"Content-Type": "application/xml", **headers}, self._stall_s * 5)

    def _send(self, method: str, url: str, body: Body, headers: dict[str, str], read_s: float) -> Answer:
        sized = {**headers, "Content-Length": str(body.size)}
        timeout = httpx.Timeout(self._stall_s, read=read_s, connect=min(self._stall_s, 30), pool=None)
        request = self._http.build_request(method, url, content=self._watch(body), headers=sized, timeout=timeout)
        response = self._http.send(request, stream=True)
        try:
            return _read_answer(response)
        finally:
            response.close()

    def _watch(self, body: Body) -> Iterator[bytes]:
        sent = 0
        for block in body.blocks:
            for piece in self._limit.cut(block, body.wait):
                yield piece
                sent += len(piece)
                body.on_sent(sent)


def _read_answer(response: httpx.Response) -> Answer:
    """Return an answer with the beginning of its text; a page of a proxy can be of any length."""
    text = b""
    for block in response.iter_bytes():
        text += block
        if len(text) > _LONGEST_ANSWER:
            break
    named = response.headers
    return Answer(response.status_code, named.get("ETag"), text.decode(errors="replace"), named.get(_CRC))
