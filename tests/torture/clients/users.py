"""The people of one seed: they upload, tag, name, correct, hand on and produce at once, and write down the answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import requests

from samples.generator import generate
from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import Client, NeverAnsweredError
from tests.torture.clients.ledger import BASE, DOCUMENTS, Upload, native

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from tests.torture.plans.load_files import FilePlan

ENDED = frozenset({"completed", "completed_with_rejections", "failed", "cancelled"})
PATIENCE_S = 240.0
# For so long nothing may follow a cancellation.
CALM_S = 1.0
PRODUCTIONS = 4
# Each look at the API is a request: half of a small machine would do nothing but answer them.
_LOOK_S = 0.4
_PRODUCED = frozenset({"confirmed", "cancelled"})
_UNUSED = 9_000_000_000_000


def until(look: Callable[[], Any], what: str, every_s: float = _LOOK_S) -> Any:
    """What `look` gives once that is something; raises NeverAnsweredError."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := look()):
        if time.monotonic() > deadline:
            raise NeverAnsweredError(f"never came true: {what}")
        time.sleep(every_s)
    return found


class Uploader:
    """Brings in one load file, now and then twice or by detours, and sees to it until its import has ended."""

    def __init__(self, client: Client, s3: S3Client, bucket: str, file: FilePlan, committed: Queried) -> None:
        self._client, self._s3, self._bucket, self._file, self._committed = client, s3, bucket, file, committed

    def run(self) -> None:
        """Until the import of the file has ended."""
        made = generate(self._file.spec)
        for _ in range(1 + self._file.is_twice):
            self._bring_in(Upload(self._file.case, made, self._file.is_twice))

    def _bring_in(self, upload: Upload) -> None:
        upload.import_id = self._upload(upload)
        self._client.ledger.uploads.append(upload)
        if self._file.is_cancelled:
            self._cancel_and_retry(upload)
        upload.status = see_to(self._client, upload.import_id)

    def _upload(self, upload: Upload, *, is_check: bool = False) -> int:
        return self._announced(upload, is_check) if self._file.is_announced else self._put(upload, is_check)

    def _announced(self, upload: Upload, is_check: bool) -> int:
        body = {"case": upload.case, "fileName": "load.dat", "size": len(upload.made.data), "dryRun": is_check}
        options = {"options": upload.made.options} if upload.made.options else {}
        answered = self._client.change("POST", "/imports", body | options)
        assert answered.status == 201, answered
        put = answered.body["upload"]
        until(lambda: put_to(put, upload.made.data), "an upload")
        return int(answered.body["id"])

    def _put(self, upload: Upload, is_check: bool) -> int:
        client, upload_id = self._client, f"{self._client.draw.getrandbits(64):016x}"
        place = f"{client.ledger.tenant}/{upload.case}/{upload_id}"
        key = f"imports/{place}/load.dat"
        options = (upload.made.options or {}) | ({"dry_run": True} if is_check else {})
        if options:
            body = json.dumps(options)
            self._s3.put_object(Bucket=self._bucket, Key=f"options/{place}.json", Body=body)
        before = set(self._ids(upload.case))
        self._s3.put_object(Bucket=self._bucket, Key=key, Body=upload.made.data)
        found = until(lambda: set(self._ids(upload.case)) - before, f"an import of {key}")
        if len(found) != 1:
            client.ledger.complain(f"doubled: one upload, {len(found)} imports")
        return int(min(found))

    def _ids(self, case: str) -> list[int]:
        answered = self._client.get(f"/imports?case={case}&limit=100")
        return [each["id"] for each in answered.body["items"]] if answered.status == 200 else []

    def _cancel_and_retry(self, upload: Upload) -> None:
        place = f"/imports/{upload.import_id}"
        # Past the application, and at once: its caller comes when all chunks are done.
        until(lambda: self._is_split(upload), f"{place} to be split", every_s=0.02)
        cancelled = self._client.change("POST", f"{place}/cancel")
        if cancelled.status == 200:
            rows = self._rows(upload)
            time.sleep(CALM_S)
            if self._rows(upload) != rows:
                self._client.ledger.complain(f"misplaced: rows of import {upload.import_id} follow its cancellation")
            self._while_cancelled(upload)
            self._client.change("POST", f"{place}/retry")

    def _while_cancelled(self, upload: Upload) -> None:
        """Do what is refused between a cancellation and its retry: nothing."""

    def _is_split(self, upload: Upload) -> bool:
        status = self._committed.query("SELECT status FROM imports WHERE id = :id", id=upload.import_id)[0][0]
        return status not in ("awaiting_upload", "splitting")

    def _rows(self, upload: Upload) -> list[int]:
        """How many rows of each kind the import has, past the application."""
        tables = ("exhibits", "import_rejections", "import_warnings", "import_check_findings")
        counts = [f"(SELECT COUNT(*) FROM {table} WHERE import_id = :id)" for table in tables]
        return list(self._committed.query(f"SELECT {', '.join(counts)}", id=upload.import_id)[0])


def see_to(client: Client, import_id: int, ends: frozenset[str] = ENDED) -> str:
    """How the import ended; what the application gave up is tried again, as its users do."""
    path, status = f"/imports/{import_id}", ""
    for _ in range(5):
        status = until(lambda: _ended(client, path, ends), f"import {import_id} to end")
        if status not in ("failed", "cancelled") and not client.get(path).body["chunksFailed"]:
            break
        client.change("POST", f"{path}/retry")
    return status


def _ended(client: Client, path: str, ends: frozenset[str]) -> str | None:
    state = str(client.get(path).body["status"])
    return state if state in ends else None


def put_to(put: dict[str, Any], data: bytes) -> bool:
    """Whether the file could be put where an announced import waits for it, or is there since an earlier attempt."""
    try:
        return requests.put(put["url"], data=data, headers=put["headers"], timeout=30).status_code in (200, 412)
    except requests.RequestException:
        return False


def bring_in_the_base(client: Client, s3: S3Client, bucket: str) -> list[int]:
    """A case of a few documents with their files; gives the exhibits' ids."""
    rows = [f"B-{number},Title {number},nat/{number}.txt" for number in range(DOCUMENTS)]
    for number in range(DOCUMENTS):
        key = f"files/{client.ledger.tenant}/{BASE}/nat/{number}.txt"
        s3.put_object(Bucket=bucket, Key=key, Body=native(number))
    data = "\r\n".join(["Control Number,Title,Native Path", *rows, ""]).encode()
    answered = client.change("POST", "/imports", {"case": BASE, "fileName": "base.csv", "size": len(data)})
    client.ledger.base_import = answered.body["id"]
    until(lambda: put_to(answered.body["upload"], data), "the upload of the base")
    see_to(client, answered.body["id"])
    return [each["id"] for each in client.get(f"/exhibits?case={BASE}&limit=100").body["items"]]


def tag(client: Client, exhibits: list[int], actor: int) -> None:
    """Tags of one's own and one that all give; some are taken off again, and one request must do nothing."""
    ledger, draw = client.ledger, client.draw
    for turn in range(4):
        chosen = draw.sample(exhibits, draw.randint(1, len(exhibits)))
        tags = ["Hot", f"Tag {actor}.{turn}"]
        answered = client.change("POST", "/taggings", {"exhibitIds": chosen, "tags": tags})
        expect(client, answered.status == 200, "tagging", answered)
        ledger.linked(chosen, "tagged")
        ledger.taggings |= {(exhibit, name) for exhibit in chosen for name in tags}
        if turn % 2:
            answered = client.change("DELETE", "/taggings", {"exhibitIds": chosen[:1], "tags": tags[1:]})
            expect(client, answered.status == 200, "taking a tag off", answered)
            ledger.linked(chosen[:1], "untagged")
            ledger.taggings -= {(chosen[0], tags[1])}
    refused = {"exhibitIds": [*exhibits, _UNUSED], "tags": [f"Never {actor}"]}
    answered = client.change("POST", "/taggings", refused)
    expect(client, answered.status == 404, "tagging what is not there", answered)


def correct(client: Client, exhibits: list[int], actor: int) -> None:
    """Titles of the same few exhibits, each on the version that was read."""
    for turn in range(5):
        exhibit = client.draw.choice(exhibits[:2])
        for _ in range(20):
            version = client.get(f"/exhibits/{exhibit}").etag
            title = f"Title by {actor} in turn {turn}"
            answered = client.change("PATCH", f"/exhibits/{exhibit}", {"title": title}, if_match=version)
            if answered.status == 200:
                expect(client, f'"{answered.body["version"] - 1}"' == version, f"correcting {version}", answered)
                client.ledger.titled(exhibit, answered.body["version"], title)
                break
            expect(client, answered.status == 412, "correcting", answered)


def name(client: Client, exhibits: list[int], actor: int) -> None:
    """Custodians that others name at the same time."""
    for turn in range(3):
        answered = client.change("POST", "/custodians", {"case": BASE, "name": f"Keeper, {turn}"})
        expect(client, answered.status == 200, "naming", answered)
        client.ledger.named(f"Keeper, {turn}", answered.body["id"])
        path = f"/exhibits/{exhibits[actor % len(exhibits)]}/custodians"
        answered = client.change("POST", path, {"custodians": [f"Keeper, {turn}"]})
        expect(client, answered.status == 200, "adding a custodian", answered)
        client.ledger.linked([exhibits[actor % len(exhibits)]], "custodians_added")
        client.ledger.links.add((exhibits[actor % len(exhibits)], f"Keeper, {turn}"))


def produce(client: Client, actor: int) -> None:
    """A production of the whole base case, which shares its volume with one and its prefix with another of four."""
    volume, prefix = f"VOL{actor // 2}", f"PROD{actor % 2}-"
    body = {"case": BASE, "query": {}, "volume": volume, "prefix": prefix, "digits": 6}
    answered = client.change("POST", "/productions", body)
    expect(client, answered.status == 202, "producing", answered)
    path = f"/productions/{answered.body['id']}"
    is_cancelled = actor == PRODUCTIONS - 1 and _cancelled(client, path)
    end = client.ledger.productions[answered.body["id"]] = until(lambda: _produced(client, path), f"{path} to end")
    if (end == "cancelled") != is_cancelled:
        accepted = "was" if is_cancelled else "was not"
        client.ledger.complain(f"misplaced: {path} is {end}, and a cancellation {accepted} accepted")


def _cancelled(client: Client, path: str) -> bool:
    """Cancel it at once, or when its numbers are given out; whether that was accepted."""
    if client.draw.random() < 0.5:
        until(
            lambda: (found := client.get(path).body)["documents"] or found["status"] in _PRODUCED, f"numbers of {path}"
        )
    return client.change("POST", f"{path}/cancel").status < 400


def _produced(client: Client, path: str) -> str | None:
    status = str(client.get(path).body["status"])
    if status == "needs_attention":
        client.change("POST", f"{path}/retry")
    return status if status in _PRODUCED else None


def expect(client: Client, is_so: bool, doing: str, answered: object) -> None:
    """Note an unexpected answer."""
    if not is_so:
        client.ledger.complain(f"wrong answer: {doing}: {str(answered)[:400]}")
