"""Send the files of a volume by the URLs that the API returns, several at a time.

Guaranteed: a file that is in the bucket already with its size is not sent again: its URL accepted only the bytes of its
hash. S3 refuses a second object under a key (412), which therefore means that the file is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import urllib3

from local.errors import LocalError
from local.stack_parts import HasBucket
from local.volumes.inventory import LocalFile, UploadMemory
from local.volumes.volume_api import Document, VolumeApi

if TYPE_CHECKING:
    pass

FILES_PER_REQUEST, AT_ONCE = 500, 8
_TIMEOUT_S = 300
_THERE = (HTTPStatus.OK, HTTPStatus.PRECONDITION_FAILED)
OnSent = Callable[[int, int], None]


def list_sent(target: HasBucket, prefix: str) -> dict[str, int]:
    """Return the sizes of the objects that the volume has in the bucket, by path."""
    pages = target.s3.get_paginator("list_objects_v2").paginate(Bucket=target.bucket, Prefix=prefix)
    return {each["Key"].removeprefix(prefix): each["Size"] for page in pages for each in page.get("Contents", [])}


class FileSender:
    """Sends files of one volume; `on_sent` gets the files and bytes that are there after each of them."""

    def __init__(self, api: VolumeApi, volume_id: int, memory: UploadMemory, on_sent: OnSent) -> None:
        self._api, self._volume_id, self._memory, self._on_sent = api, volume_id, memory, on_sent
        self._pool = urllib3.PoolManager(maxsize=AT_ONCE, retries=urllib3.Retry(3, status=0), timeout=_TIMEOUT_S)
        self._lock, self._files, self._bytes = threading.Lock(), 0, 0

    def send(self, files: Sequence[LocalFile], sent: dict[str, int]) -> None:
        """Declare all files and send those that are not there. Raises LocalError, and OSError for a file."""
        start = 0
        while batch := files[start : start + FILES_PER_REQUEST]:
            hashes = self._memory.hash_files(batch)
            declared = [_declare(file, sha256) for file, sha256 in zip(batch, hashes, strict=True)]
            answer = self._api.request("POST", f"/volumes/{self._volume_id}/files", declared)
            # Long paths: the rest is declared by the next requests.
            batch = batch[: len(answer["items"])]
            start += len(batch)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                done = [
                    pool.submit(self._send_file, file, item["upload"], is_there=sent.get(file.path) == file.size)
                    for file, item in zip(batch, answer["items"], strict=True)
                ]
                try:
                    for each in done:
                        each.result()
                finally:
                    # After an error or interruption, only what is being sent is sent to its end.
                    pool.shutdown(wait=False, cancel_futures=True)

    def _send_file(self, file: LocalFile, upload: Document, *, is_there: bool) -> None:
        if not is_there:
            send_file(self._pool, file.file, upload)
        with self._lock:
            self._files, self._bytes = self._files + 1, self._bytes + file.size
            self._on_sent(self._files, self._bytes)


def _declare(file: LocalFile, sha256: str) -> Document:
    return {"path": file.path, "size": file.size, "sha256": sha256}


def send_file(pool: urllib3.PoolManager, file: Path, upload: Document) -> None:
    """Send a file to its URL, or its parts to theirs. Raises LocalError if S3 refuses it, and OSError."""
    if upload.get("url"):
        with file.open("rb") as stream:
            _put(pool, "PUT", upload["url"], stream, {**upload["headers"], "Content-Length": str(file.stat().st_size)})
        return
    with ThreadPoolExecutor(AT_ONCE) as parts:
        tags = list(parts.map(lambda part: _send_part(pool, file, part), upload["parts"]))
    document = "".join(_describe_part(each["number"], tag) for each, tag in zip(upload["parts"], tags, strict=True))
    body = f"<CompleteMultipartUpload>{document}</CompleteMultipartUpload>".encode()
    _put(pool, "POST", upload["completeUrl"], body, upload["headers"])


def _describe_part(number: int, tag: str) -> str:
    return f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"


def _send_part(pool: urllib3.PoolManager, file: Path, part: Document) -> str:
    with file.open("rb") as stream:
        stream.seek(part["firstByte"])
        reply = _put(pool, "PUT", part["url"], _read(stream, part["size"]), {"Content-Length": str(part["size"])})
    return str(reply.headers["ETag"])


def _read(stream: Any, size: int) -> Iterator[bytes]:
    while size and (block := stream.read(min(size, 1 << 20))):
        size -= len(block)
        yield block


def _put(pool: urllib3.PoolManager, method: str, url: str, body: Any, headers: dict[str, str]) -> Any:
    try:
        reply = pool.request(method, url, body=body, headers=headers)
    except urllib3.exceptions.HTTPError as exc:
        raise LocalError(f"S3 did not answer: {exc}; run the command again, which goes on with the files left") from exc
    if reply.status not in _THERE:
        raise LocalError(f"S3 refused a file with status {reply.status}; run the command again")
    return reply
