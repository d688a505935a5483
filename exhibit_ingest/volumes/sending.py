"""Send the files of a volume by the URLs that the API returns, several at a time.

Guaranteed: a file counts as sent only if the bucket has its bytes: S3 compares those that it receives with the SHA-256
that is computed just before, and those that are there already, or were put meanwhile (412), are compared here.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3

from exhibit_ingest.stack_parts import HasBucket
from exhibit_ingest.volumes.inventory import LocalFile, hash_file
from exhibit_ingest.volumes.resuming import send_missing
from exhibit_ingest.volumes.volume_api import ConflictError, Document, VolumeApi
from local.errors import LocalError

FILES_PER_REQUEST, AT_ONCE = 500, 8
# Larger files are sent in parts, of which only those that failed are sent again.
RESUMED_BYTES = 100_000_000
_TIMEOUT_S = 300
_BLOCK_BYTES = 1 << 20
_ERROR_CODE = re.compile(rb"<Code>(\w+)</Code>")
_THERE = (HTTPStatus.OK, HTTPStatus.PRECONDITION_FAILED)
OnSent = Callable[[int, int], None]


def list_sent(target: HasBucket, prefix: str) -> dict[str, int]:
    """Return the sizes of the objects that the volume has in the bucket, by path."""
    pages = target.s3.get_paginator("list_objects_v2").paginate(Bucket=target.bucket, Prefix=prefix)
    return {each["Key"].removeprefix(prefix): each["Size"] for page in pages for each in page.get("Contents", [])}


def has_bytes(target: HasBucket, key: str, sha256: str) -> bool:
    """Return whether an object has this SHA-256; without a checksum of the whole object, its bytes are read."""
    head = target.s3.head_object(Bucket=target.bucket, Key=key, ChecksumMode="ENABLED")
    stored = head.get("ChecksumSHA256", "")
    # Of an object in parts it is a checksum of its parts' checksums.
    if stored and "-" not in stored and head.get("ChecksumType", "FULL_OBJECT") == "FULL_OBJECT":
        return base64.b64decode(stored).hex() == sha256
    digest = hashlib.sha256()
    for block in target.s3.get_object(Bucket=target.bucket, Key=key)["Body"].iter_chunks(_BLOCK_BYTES):
        digest.update(block)
    return digest.hexdigest() == sha256


class FileSender:
    """Sends files of one volume; `on_sent` gets the files and bytes that are there after each of them."""

    def __init__(self, api: VolumeApi, target: HasBucket, volume: Document, on_sent: OnSent) -> None:
        self._api, self._target, self._on_sent = api, target, on_sent
        self._volume_id, self._prefix = volume["id"], volume["prefix"]
        self._pool = urllib3.PoolManager(maxsize=AT_ONCE, retries=urllib3.Retry(3, status=0), timeout=_TIMEOUT_S)
        self._lock, self._files, self._bytes = threading.Lock(), 0, 0

    def send(self, files: Sequence[LocalFile], sent: dict[str, int]) -> None:
        """Declare all files and send those that are not there; `sent` are the sizes of those that are, by path.

        Raises ConflictError if one of them was declared or sent with other bytes, LocalError, and OSError for a file.
        """
        for start in range(0, len(files), FILES_PER_REQUEST):
            batch = [(file, hash_file(file.file)) for file in files[start : start + FILES_PER_REQUEST]]
            while batch:
                # Long paths: the rest is declared by the next request.
                batch = batch[self._declare_and_send(batch, sent) :]

    def _declare_and_send(self, batch: Sequence[tuple[LocalFile, str]], sent: dict[str, int]) -> int:
        """Declare files, given with their SHA-256, and send those that were accepted; return how many."""
        declared = [_declare(file, sha256) for file, sha256 in batch]
        items = self._api.request("POST", f"/volumes/{self._volume_id}/files", declared)["items"]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            done = [
                pool.submit(self._send_file, file, sha256, item["upload"], is_there=file.path in sent)
                for (file, sha256), item in zip(batch, items, strict=False)
            ]
            try:
                for each in done:
                    each.result()
            finally:
                # After an error or interruption, only what is being sent is sent to its end.
                pool.shutdown(wait=False, cancel_futures=True)
        return len(items)

    def _send_file(self, file: LocalFile, sha256: str, upload: Document | None, *, is_there: bool) -> None:
        if upload and upload.get("parts"):
            # S3 compares each part alone: the whole is compared here.
            is_there = bool(send_missing(self._pool, file.file, lambda: self._read_state(file.path)))
        is_there = is_there or upload is None or not send_file(self._pool, file.file, upload)
        if is_there and not has_bytes(self._target, self._prefix + file.path, sha256):
            raise ConflictError(f"{file.path} was changed after it was sent; run the command again")
        self._count(file)

    def _read_state(self, path: str) -> Document:
        return self._api.request("GET", f"/volumes/{self._volume_id}/upload?path={quote(path, safe='')}")

    def _count(self, file: LocalFile) -> None:
        with self._lock:
            self._files, self._bytes = self._files + 1, self._bytes + file.size
            self._on_sent(self._files, self._bytes)


def _declare(file: LocalFile, sha256: str) -> Document:
    return {"path": file.path, "size": file.size, "sha256": sha256, "inParts": file.size >= RESUMED_BYTES}


def send_file(pool: urllib3.PoolManager, file: Path, upload: Document) -> bool:
    """Send a file to its URL; return False if there is an object already.

    Raises LocalError if S3 refuses it, and OSError.
    """
    with file.open("rb") as stream:
        headers = {**upload["headers"], "Content-Length": str(file.stat().st_size)}
        return bool(_put(pool, upload["url"], stream, headers).status == HTTPStatus.OK)


def _put(pool: urllib3.PoolManager, url: str, body: Any, headers: dict[str, str]) -> Any:
    try:
        reply = pool.request("PUT", url, body=body, headers=headers)
    except urllib3.exceptions.HTTPError as exc:
        raise LocalError(f"S3 did not answer: {exc}. Run the command again to send the rest.") from exc
    if reply.status not in _THERE:
        found = _ERROR_CODE.search(reply.data)
        code = f" ({found[1].decode()})" if found else ""
        raise LocalError(
            f"S3 refused a file with status {reply.status}{code}. If another program is changing the files, wait until"
            " it has finished, then run the command again."
        )
    return reply
