"""Send one object to its place in the bucket: in one request, or in parts that are then put together.

Guaranteed: the object is put together only from parts that together have its size, of each of which the storage has
stated the checksum of the bytes of this machine, and only if no file was changed meanwhile; a file whose bytes are not
those that were declared is named at once; a part that the storage has is not sent again; URLs are renewed
before they expire and when they are refused.
"""

from __future__ import annotations

import math
import threading
from xml.sax.saxutils import escape

from exhibit_ingest.uploads.digests import DeclaredHash, PartDigest, PartHash, has_bytes, read_digest
from exhibit_ingest.uploads.faults import ALTERED_CODES, Answer, FileChangedFault, UploadFault, find_fault
from exhibit_ingest.uploads.protocols import Document
from exhibit_ingest.uploads.targets import Source, Target
from exhibit_ingest.uploads.tasks import Context, Task, do_nothing

# URLs are renewed before their last minute.
_EARLY_S = 60
_MAX_ROUNDS = 3
_SHA256 = "x-amz-checksum-sha256"
_ALTERED = "The storage has other bytes of {path} than were sent: something on the way alters them."


class ObjectUpload:
    """Makes the tasks of one object; threads run them at once."""

    def __init__(self, source: Source, target: Target) -> None:
        self._source, self._target, self._path = source, target, source.path
        self._lock, self._renewing = threading.Lock(), threading.Lock()
        # By number: all parts; those that the storage had when its state was read; what was sent, or compared, of each.
        self._parts: dict[int, Document] = {}
        self._there: dict[int, Document] = {}
        self._etags: dict[int, str] = {}
        # The digests of parts of which neither ETag nor answer shows that they are right: the list of parts has to.
        self._unproved: dict[int, PartDigest] = {}
        # None until the first answer to a part: a CRC takes tens of times as long as an MD5.
        self._has_md5_etags: bool | None = None
        self._urls: Document = {}
        self._expires_at, self._is_stored, self._is_completing, self._rounds = -math.inf, False, False, 0

    def begin(self, now: float) -> Task:
        """Return what is to be done first; it adds the rest. The URLs of the target are taken for new."""
        if self._target.urls:
            self._accept(self._target.urls, now)
        return Task(self._path, self._plan)

    def _plan(self, context: Context) -> None:
        self._freshen(context)
        source = self._source
        if self._is_stored:
            context.count_there(source.files)
            context.add([Task(self._path, do_nothing, source.files, source.size)])
        elif self._urls["url"]:
            context.add([Task(self._path, self._send_whole, source.files, source.size)])
        else:
            _require_whole(self._parts, source)
            context.add([self._make_part(number) for number in sorted(self._parts)])

    def _send_whole(self, context: Context) -> None:
        self._freshen(context)
        if self._is_stored:
            return context.count_there(self._source.files)
        size, headers = self._source.size, self._urls["headers"]
        declared, computed = DeclaredHash(headers.get(_SHA256)), PartHash(with_crc=_SHA256 not in headers)
        blocks = declared.watch(computed.watch(self._source.read(0, size)))
        answer = context.put(self._urls["url"], blocks, size, headers)
        fault = find_fault(answer, self._path)
        if fault is not None and fault.code in ALTERED_CODES and not declared.is_kept():
            raise FileChangedFault(self._path)
        if fault is not None and fault.code == "PreconditionFailed":
            # The file is there, from an attempt whose answer was lost.
            return context.count_there(self._source.files)
        self._require(fault)
        _get_etag(answer)
        crc = computed.finish().crc
        if crc is not None and answer.crc not in (None, crc):
            raise UploadFault("final", "PARTS_DIFFER", _ALTERED.format(path=self._path))
        return None

    def _make_part(self, number: int, *, is_counted: bool = True) -> Task:
        start, size = self._parts[number]["firstByte"], self._parts[number]["size"]
        ends = self._source.count_ends(start, start + size)
        counts = (ends, size) if is_counted else (0, 0)
        return Task(self._path, lambda context: self._run_part(context, number), *counts)

    def _run_part(self, context: Context, number: int) -> None:
        if number not in self._etags:
            self._send_part(context, number)
        with self._lock:
            if self._is_completing or not (self._is_stored or len(self._etags) == len(self._parts)):
                return
            self._is_completing = True
        context.add([Task(self._path, self._complete)])

    def _send_part(self, context: Context, number: int) -> None:
        self._freshen(context)
        if self._is_stored:
            return
        stored, part = self._there.get(number), self._parts[number]
        if stored and has_bytes(self._source, stored):
            context.count_there()
            self._etags[number] = stored["etag"]
            return
        computed, start = PartHash(with_crc=self._has_md5_etags is False), part["firstByte"]
        blocks = computed.watch(self._source.read(start, start + part["size"]))
        answer = context.put(part["url"], blocks, part["size"], {})
        self._require(find_fault(answer, self._path))
        etag, digest = _get_etag(answer), computed.finish()
        if digest.crc is None and not self._has_md5_etags and not digest.is_etag(etag):
            digest = self._add_crc(digest, start, part["size"])
        self._keep(number, etag, answer.crc, digest)

    def _add_crc(self, digest: PartDigest, start: int, size: int) -> PartDigest:
        """Return the digest with the CRC of the bytes, which are read again."""
        again = read_digest(self._source, start, start + size, with_crc=True)
        if again.md5 != digest.md5:
            raise FileChangedFault(self._path)
        return again

    def _keep(self, number: int, etag: str, crc: str | None, digest: PartDigest) -> None:
        with self._lock:
            self._has_md5_etags = digest.is_etag(etag)
            if not self._has_md5_etags and (digest.crc is None or crc not in (None, digest.crc)):
                # Other bytes arrived; or the ETags of this bucket are no longer MD5.
                raise UploadFault("busy", "ETAG_DIFFERS", _ALTERED.format(path=self._path))
            self._unproved.pop(number, None)
            if not digest.is_etag(etag) and crc is None:
                self._unproved[number] = digest
            self._etags[number] = etag

    def _complete(self, context: Context) -> None:
        self._freshen(context)
        self._source.check()
        if self._unproved and not self._is_stored:
            self._read_state(context)
            self._prove()
        if self._is_stored:
            return None
        if len(self._etags) < len(self._parts):
            return self._send_again(context)
        answer = context.post(self._urls["completeUrl"], _list_parts(self._etags), self._urls["headers"])
        fault = find_fault(answer, self._path)
        is_done = "CompleteMultipartUploadResult" in answer.text
        if fault is None and is_done:
            return None
        if fault is not None and fault.kind != "stale":
            return self._require(fault)
        # Another program may have completed the upload, or sent other parts.
        self._read_state(context)
        self._drop_others()
        return None if self._is_stored else self._send_again(context)

    def _prove(self) -> None:
        """Drop the parts of which the storage has other bytes than were sent."""
        self._drop_others()
        for number, digest in [*self._unproved.items()]:
            if number in self._etags and not digest.is_part(self._there[number]):
                del self._etags[number]
        self._unproved.clear()

    def _drop_others(self) -> None:
        """Drop the parts that the storage does not have as they were sent or compared."""
        kept = {number: etag for number, etag in self._etags.items() if self._there.get(number, {}).get("etag") == etag}
        self._etags.clear()
        self._etags.update(kept)

    def _send_again(self, context: Context) -> None:
        self._rounds += 1
        if self._rounds > _MAX_ROUNDS:
            raise UploadFault("final", "PARTS_DIFFER", _ALTERED.format(path=self._path))
        missing = [number for number in sorted(self._parts) if number not in self._etags]
        self._is_completing = not missing
        again = [self._make_part(number, is_counted=False) for number in missing]
        context.add(again or [Task(self._path, self._complete)])

    def _require(self, fault: UploadFault | None) -> None:
        """Raise a fault, after which the next attempt has new URLs or knows the state, if that helps."""
        if fault is None:
            return
        if fault.kind in ("expired", "stale"):
            self._expires_at = -math.inf
        raise fault

    def _freshen(self, context: Context) -> None:
        # One task reads the state; those that need it too wait for it.
        with self._renewing:
            if context.clock() > self._expires_at:
                self._read_state(context)

    def _read_state(self, context: Context) -> None:
        state = self._target.get_state()
        if state["size"] not in (None, self._source.size):
            raise _make_size_fault(self._path, self._source.size, state["size"])
        if state["state"] == "expired":
            raise make_gone_fault()
        self._is_stored = state["state"] == "stored"
        with self._lock:
            self._there = {part["number"]: part for part in state["parts"]}
            self._parts |= self._there
        self._accept(state["upload"] or {}, context.clock())

    def _accept(self, urls: Document, now: float) -> None:
        self._urls = urls
        self._expires_at = now + urls.get("expiresInSeconds", math.inf) - _EARLY_S
        with self._lock:
            self._parts |= {part["number"]: part for part in urls.get("parts") or []}


def _require_whole(parts: dict[int, Document], source: Source) -> None:
    """Raise UploadFault unless the parts follow each other from the first byte of the object to its last."""
    end = 0
    for number in sorted(parts):
        if parts[number]["firstByte"] != end:
            break
        end += parts[number]["size"]
    if end != source.size:
        message = f"The API has divided {source.path} into parts that are not the whole of it."
        raise UploadFault("final", "UNEXPECTED", message)


def _get_etag(answer: Answer) -> str:
    if not answer.etag:
        message = f"Something that is not the storage answered {answer.status}, without an ETag."
        raise UploadFault("final", "NO_ETAG", message, "Check the proxy of the network, then run the command again.")
    return answer.etag


def _list_parts(etags: dict[int, str]) -> bytes:
    parts = (f"<Part><PartNumber>{n}</PartNumber><ETag>{escape(etags[n])}</ETag></Part>" for n in sorted(etags))
    return f"<CompleteMultipartUpload>{''.join(parts)}</CompleteMultipartUpload>".encode()


def make_gone_fault() -> UploadFault:
    """Return the fault of an upload whose parts were deleted."""
    message = "The storage has deleted the parts of the upload, after seven days."
    return UploadFault("final", "UPLOAD_EXPIRED", message, "Run the command again to send all of it.")


def _make_size_fault(path: str, size: int, announced: int) -> UploadFault:
    message = f"{path} has {size:,} bytes; the upload that was begun has {announced:,}."
    return UploadFault("final", "SIZE_DIFFERS", message, "Run the command again to begin a new upload.")
