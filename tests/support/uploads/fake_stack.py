"""An API and a storage in memory, with parts of a few bytes, and CRC-64 of every part as S3.

ETags are no MD5 unless `has_md5_etags`.
A file of a volume is refused if it has not the SHA-256 that was declared of it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import httpx

from exhibit_ingest.uploads.connection import Pace
from exhibit_ingest.uploads.journal import Journal
from exhibit_ingest.uploads.protocols import Progress
from exhibit_ingest.uploads.uploads import Uploads

PART_BYTES = 100
QUICK = Pace(delays_s=(0.001,), attempts=5, patience_s=0.5)
Reply = Callable[[httpx.Request, bytes], httpx.Response | None]


class RefusedError(Exception):
    """As the client's: a status and the name of the problem."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"The API answered {status} {code}.")
        self.status, self.code = status, code


def crc64(data: bytes) -> str:
    """CRC-64/NVME bit by bit, in Base64."""
    crc = (1 << 64) - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x9A6C9329AC4BC9B5 if crc & 1 else 0)
    return base64.b64encode((crc ^ ((1 << 64) - 1)).to_bytes(8, "big")).decode()


def error(status: int, code: str) -> httpx.Response:
    """An answer as S3 words it."""
    return httpx.Response(status, text=f"<Error><Code>{code}</Code></Error>")


def lose() -> httpx.Response:
    """No answer."""
    raise httpx.ReadError("the connection was lost")


@dataclass
class Upload:
    """One object: its size, its parts by number, whether it is put together, and the bytes."""

    size: int
    parts: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    stored: bytes | None = None
    is_gone: bool = False


@dataclass
class FakeStack:
    """`before` may answer a request to the storage instead of it; `signatures` counts the URLs that were signed.

    `volumes` are their statuses by number, that of a failure with its code.
    """

    uploads: dict[str, Upload] = field(default_factory=dict)
    keys: dict[str, dict[str, Any]] = field(default_factory=dict)
    volumes: dict[int, str] = field(default_factory=dict)
    imports: dict[int, str] = field(default_factory=dict)
    created: str = "2026-11-27"
    hashes: dict[str, str] = field(default_factory=dict)
    before: Reply = lambda *_: None
    alter: Callable[[bytes], bytes] = bytes
    states_checksums: bool = True
    answers_checksums: bool = False
    has_md5_etags: bool = False
    sent: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, str]] = field(default_factory=list)
    signatures: int = 0

    def request(self, method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        """The API."""
        self.requests.append((method, path))
        match method, path.partition("?")[0].strip("/").split("/"):
            case "POST", ["imports"]:
                return self._once(key, lambda number: self._announce(f"/imports/{number}", json["size"]))
            case "POST", ["volumes"]:
                return self._once(key, lambda number: self._create_volume(number, json))
            case "POST", ["volumes", number, "files"]:
                return {"items": [self._declare(number, each) for each in json]}
            case "GET", ["volumes", number]:
                status, _, code = self.volumes[int(number)].partition(" ")
                return {"status": status, "failureCode": code or None, "createdAt": self.created}
            case "GET", ["imports", number]:
                return self._describe_import(number)
            case "GET", [*place, "upload"]:
                inner = parse_qs(urlsplit(path).query).get("path", [""])[0]
                return self.describe("/" + "/".join(place) + (f"/{inner}" if inner else ""))
        raise RefusedError(404, "not-found")

    def _once(self, key: str | None, make: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
        assert key
        if key not in self.keys:
            number = len(self.keys) + 1
            self.keys[key] = {"id": number, **make(number)}
        return self.keys[key]

    def _describe_import(self, number: str) -> dict[str, Any]:
        upload = self.uploads.get(f"/imports/{number}")
        if upload is None:
            raise RefusedError(404, "not-found")
        status = self.imports.get(int(number), "awaiting_upload" if upload.stored is None else "completed")
        return {"status": status, "startedAt": self.created, "case": "Case", "fileName": "a.dat", "size": upload.size}

    def _create_volume(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        self.volumes[number] = "open"
        return self._announce(f"/volumes/{number}", body["archive"]["size"]) if "archive" in body else {}

    def _announce(self, place: str, size: int) -> dict[str, Any]:
        self.uploads[place] = Upload(size)
        return {"upload": self.sign(place)}

    def _declare(self, number: str, file: dict[str, Any]) -> dict[str, Any]:
        place = f"/volumes/{number}/{file['path']}"
        if self.hashes.setdefault(place, file["sha256"]) != file["sha256"]:
            raise RefusedError(409, "already-exists")
        upload = self.uploads.setdefault(place, Upload(file["size"]))
        is_stored = upload.stored is not None
        return {"path": file["path"], "stored": is_stored, "upload": None if is_stored else self.sign(place)}

    def sign(self, place: str) -> dict[str, Any]:
        """URLs of what the storage does not have; a file of less than two parts has one."""
        upload, missing = self.uploads[place], []
        self.signatures += 1
        if upload.size < 2 * PART_BYTES:
            url = self._url(place, "whole")
            declared = self.hashes.get(place)
            headers = {"x-amz-checksum-sha256": base64.b64encode(bytes.fromhex(declared)).decode()} if declared else {}
            return {"url": url, "headers": headers, "parts": None, "completeUrl": None, "expiresInSeconds": 3600}
        for number, at in enumerate(range(0, upload.size, PART_BYTES), 1):
            if number not in upload.parts:
                missing.append(self._part(place, number, at))
        complete = self._url(place, "complete")
        return {"url": None, "headers": {}, "parts": missing, "completeUrl": complete, "expiresInSeconds": 3600}

    def _url(self, place: str, part: str) -> str:
        return f"https://bucket.test{quote(place)}?part={part}&signature={self.signatures}"

    def _part(self, place: str, number: int, at: int) -> dict[str, Any]:
        size = min(PART_BYTES, self.uploads[place].size - at)
        return {"number": number, "firstByte": at, "size": size, "url": self._url(place, str(number))}

    def describe(self, place: str) -> dict[str, Any]:
        """The state of an upload."""
        if place not in self.uploads:
            raise RefusedError(404, "not-found")
        upload = self.uploads[place]
        if upload.stored is not None or upload.is_gone:
            state = "expired" if upload.is_gone else "stored"
            return {"state": state, "size": upload.size, "parts": [], "upload": None}
        parts = [
            {
                **self._part(place, number, (number - 1) * PART_BYTES),
                "etag": etag,
                "checksumAlgorithm": "CRC64NVME" if self.states_checksums else None,
                "checksum": crc64(data) if self.states_checksums else None,
            }
            for number, (etag, data) in sorted(upload.parts.items())
        ]
        return {"state": "awaited", "size": upload.size, "parts": parts, "upload": self.sign(place)}

    def answer(self, request: httpx.Request) -> httpx.Response:
        """The storage."""
        body, place = request.read(), unquote(request.url.path)
        part = request.url.params["part"]
        self.sent[part] += 1
        if (reply := self.before(request, body)) is not None:
            return reply
        upload, body = self.uploads[place], self.alter(body)
        if part == "complete":
            return self._complete(upload, body.decode())
        declared = request.headers.get("x-amz-checksum-sha256")
        if declared not in (None, base64.b64encode(hashlib.sha256(body).digest()).decode()):
            return error(400, "BadDigest")
        md5 = hashlib.md5(body, usedforsecurity=False).hexdigest()
        etag = f'"{md5 if self.has_md5_etags else uuid.uuid4().hex}"'
        if part == "whole":
            upload.stored = body
        else:
            upload.parts[int(part)] = (etag, body)
        computed = {"x-amz-checksum-crc64nvme": crc64(body)} if self.answers_checksums else {}
        return httpx.Response(200, headers={"ETag": etag, **computed})

    def _complete(self, upload: Upload, document: str) -> httpx.Response:
        listed = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>(.*?)</ETag>", document)
        if upload.stored is not None:
            return error(404, "NoSuchUpload")
        if any(upload.parts.get(int(number), ("",))[0] != etag for number, etag in listed):
            return error(400, "InvalidPart")
        upload.stored = b"".join(upload.parts[int(number)][1] for number, _ in listed)
        return httpx.Response(200, text="<CompleteMultipartUploadResult/>")

    def connect(self, folder: Path, seen: list[Progress] | None = None, rate: int | None = None) -> Uploads:
        """What sends to this stack, with a journal in the folder."""
        http = httpx.Client(transport=httpx.MockTransport(self.answer))
        show = (lambda _: None) if seen is None else seen.append
        return Uploads(self, "fake", Journal(folder), http, rate, show, QUICK)

    def list_stored(self) -> Iterator[tuple[str, bytes]]:
        """The objects, by place."""
        return ((place, upload.stored) for place, upload in self.uploads.items() if upload.stored is not None)
