"""Send a file by the state of its upload: what is missing of its parts, on another day too.

Guaranteed: a part that S3 has counts only if its checksum, or its ETag where that is an MD5, is that of the file's
bytes; every other part is sent again, with its MD5, which S3 compares. The list that completes the upload names all
parts of the file, each with its ETag, and S3 completes it only if there is no object yet. Not guaranteed: that the file
is not changed while it is sent.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from xml.sax.saxutils import escape

import urllib3

from exhibit_ingest.volumes.volume_api import Document
from local.errors import LocalError

AT_ONCE, ATTEMPTS, _ROUNDS = 8, 6, 3
_BLOCK_BYTES, _FIRST_PAUSE_S = 1 << 20, 0.2
_ERROR_CODE = re.compile(rb"<Code>(\w+)</Code>")
# The parts of the answer to a complete request that say: read the state.
_CHANGED = ("PreconditionFailed", "NoSuchUpload", "InvalidPart", "ConditionalRequestConflict")


@dataclass(frozen=True)
class Sent:
    """What it took: the parts that were there already, the parts that were sent, and the requests for these."""

    kept: int
    sent: int
    requests: int


def send_missing(pool: urllib3.PoolManager, file: Path, read_state: Callable[[], Document]) -> Sent:
    """Send what the state of the upload says is missing, and complete it; return what it took.

    `read_state` returns an `UploadState`. Raises LocalError if the upload has expired, if S3 does not take a part, and
    with the numbers of the parts that are missing at the end; OSError for the file.
    """
    kept = sent = requests = 0
    for _ in range(_ROUNDS):
        state = read_state()
        if state["state"] == "stored":
            return Sent(kept, sent, requests)
        if state["state"] == "expired":
            raise LocalError(f"the upload of {file.name} has expired; run the command again to begin another one")
        found = _send_round(pool, file, state)
        kept, sent, requests = kept or found.kept, sent + found.sent, requests + found.requests
    raise LocalError(f"{file.name} is being uploaded by another program, too; wait until it has finished")


def _send_round(pool: urllib3.PoolManager, file: Path, state: Document) -> Sent:
    if state["upload"]["url"]:
        headers = {**state["upload"]["headers"], "Content-Length": str(state["size"])}
        with file.open("rb") as stream:
            _require_taken(pool.request("PUT", state["upload"]["url"], body=stream, headers=headers))
        return Sent(0, 1, 1)
    tags = {part["number"]: part["etag"] for part in state["parts"] if has_part(file, part)}
    again = [part for part in state["parts"] if part["number"] not in tags]
    missing = sorted([*state["upload"]["parts"], *again], key=lambda part: int(part["number"]))
    kept, requests = len(tags), 0
    with ThreadPoolExecutor(AT_ONCE) as workers:
        results = workers.map(lambda part: _send_part(pool, file, part), missing)
        for part, (tag, attempts) in zip(missing, results, strict=True):
            tags[part["number"]], requests = tag, requests + attempts
    complete(pool, state, tags)
    return Sent(kept, len(missing), requests)


def complete(pool: urllib3.PoolManager, state: Document, tags: dict[int, str]) -> None:
    """Complete an upload of these parts, given by number; if it was completed or changed meanwhile, do nothing.

    Raises LocalError with the numbers of parts that are missing, and if S3 refuses it for another reason.
    """
    expected = {int(part["number"]) for part in (*state["parts"], *state["upload"]["parts"])}
    if absent := sorted(expected - tags.keys()):
        raise LocalError(f"the parts {', '.join(map(str, absent))} are missing; run the command again to send them")
    document = "".join(_describe(number, tags[number]) for number in sorted(tags))
    body = f"<CompleteMultipartUpload>{document}</CompleteMultipartUpload>".encode()
    reply = _try(lambda: pool.request("POST", state["upload"]["completeUrl"], body=body, headers=_headers(state)))
    _require_taken(reply)


def _headers(state: Document) -> dict[str, str]:
    return {**state["upload"]["headers"], "Content-Type": "application/xml"}


def _describe(number: int, tag: str) -> str:
    return f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"


def _require_taken(reply: urllib3.BaseHTTPResponse) -> None:
    """Raise LocalError for an answer that reading the state does not explain; S3 also sends errors with status 200."""
    found = _ERROR_CODE.search(reply.data)
    code = found[1].decode() if found else ""
    is_taken = reply.status == HTTPStatus.OK and not code
    if not is_taken and code not in _CHANGED:
        raise LocalError(f"S3 refused the file with status {reply.status} {code}; run the command again")


def has_part(file: Path, part: Document) -> bool:
    """Return whether a part that S3 has is that of the file, by its checksum or, without one, by its ETag."""
    algorithm, checksum = part.get("checksumAlgorithm"), part.get("checksum")
    if algorithm in _CHECKSUMS and checksum:
        return _CHECKSUMS[algorithm](_read_part(file, part)) == base64.b64decode(checksum)
    # Under a key of KMS an ETag is not an MD5: the part is then sent again.
    return _digest("md5", _read_part(file, part)).hex() == str(part["etag"]).strip('"')


def _read_part(file: Path, part: Document) -> Iterator[bytes]:
    left = int(part["size"])
    with file.open("rb") as stream:
        stream.seek(part["firstByte"])
        while left and (block := stream.read(min(left, _BLOCK_BYTES))):
            left -= len(block)
            yield block


def _digest(name: str, blocks: Iterator[bytes]) -> bytes:
    digest = hashlib.new(name, usedforsecurity=False)
    for block in blocks:
        digest.update(block)
    return digest.digest()


def _crc32(blocks: Iterator[bytes]) -> bytes:
    value = 0
    for block in blocks:
        value = zlib.crc32(block, value)
    return value.to_bytes(4, "big")


_CHECKSUMS: dict[str, Callable[[Iterator[bytes]], bytes]] = {
    "CRC32": _crc32,
    "SHA1": lambda blocks: _digest("sha1", blocks),
    "SHA256": lambda blocks: _digest("sha256", blocks),
}


def _send_part(pool: urllib3.PoolManager, file: Path, part: Document) -> tuple[str, int]:
    """Return the ETag of a part that S3 has taken, and the number of attempts."""
    md5 = base64.b64encode(_digest("md5", _read_part(file, part))).decode()
    headers = {"Content-Length": str(part["size"]), "Content-MD5": md5, "Content-Type": "application/octet-stream"}
    attempts: list[int] = []

    def put() -> urllib3.BaseHTTPResponse:
        attempts.append(1)
        return pool.request("PUT", part["url"], body=_read_part(file, part), headers=headers, retries=False)

    reply = _try(put)
    if reply.status != HTTPStatus.OK:
        raise LocalError(f"S3 refused part {part['number']} of {file.name} with status {reply.status}")
    return str(reply.headers["ETag"]), len(attempts)


def _try(request: Callable[[], urllib3.BaseHTTPResponse]) -> urllib3.BaseHTTPResponse:
    """Return the answer of S3; a request without one, and one that S3 could not serve, is repeated after a pause."""
    problem = ""
    for pause_s in _list_pauses():
        time.sleep(pause_s)
        try:
            reply = request()
        except urllib3.exceptions.HTTPError as exc:
            problem = f"S3 did not answer: {exc}"
            continue
        if reply.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return reply
        problem = f"S3 answered with status {reply.status}"
    raise LocalError(f"{problem}; run the command again to send the rest")


def _list_pauses() -> Sequence[float]:
    return [0.0, *(_FIRST_PAUSE_S * 2**n * random.uniform(0.5, 1) for n in range(ATTEMPTS - 1))]  # noqa: S311 - jitter
