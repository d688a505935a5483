"""Uploads in parts that are resumed, and files of a volume that are there."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pytest
import urllib3

from core.contracts.imports.uploads import MIN_PART_BYTES
from shell.aws import clients
from tests.support.api.client import Client
from tests.support.application.driver import World, empty_bucket

SIZE = MIN_PART_BYTES + 7
DATA = b"0123456789abcdef" * (SIZE // 16) + b"the end"
ADA, EVE = Client("acme", "ada"), Client("other", "eve")
CSV = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"


def put(url: str, data: bytes, headers: dict[str, str] | None = None, method: str = "PUT") -> Any:
    return urllib3.request(method, url, body=data, headers=headers or {}, retries=False)


def put_part(part: dict[str, Any], data: bytes = DATA) -> str:
    answer = put(part["url"], data[part["firstByte"] : part["firstByte"] + part["size"]])
    assert answer.status == 200
    return str(answer.headers["ETag"])


def read_checksum(url: str) -> tuple[str, str | None, str | None]:
    state = ADA.get(url).json
    return state["state"], state["checksumAlgorithm"], state["checksum"]


def complete(upload: dict[str, Any], tags: Sequence[str]) -> int:
    parts = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>" for number, tag in enumerate(tags, 1)
    )
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    return int(put(upload["completeUrl"], body, upload["headers"], "POST").status)


@pytest.fixture
def state_url(world: World, request: pytest.FixtureRequest) -> str:
    """An upload in parts that is announced: of an import, a zip, or a file of a volume."""
    if request.param == "import":
        body = {"case": "Case", "fileName": "a.dat", "size": SIZE, "inParts": True}
        return f"/imports/{ADA.post('/imports', body).json['id']}/upload"
    archive = {"fileName": "v.zip", "size": SIZE, "inParts": True}
    kind = {"archive": archive} if request.param == "zip" else {}
    volume = ADA.post("/volumes", {"case": "Case", "name": "V", **kind}).json["id"]
    if request.param == "zip":
        return f"/volumes/{volume}/upload"
    path = "a b/ü.dat"
    assert ADA.post(f"/volumes/{volume}/files", [{"path": path, "size": SIZE, "inParts": True}]).status == 200
    return f"/volumes/{volume}/upload?path={quote(path)}"


each_kind = pytest.mark.parametrize("state_url", ["import", "zip", "file"], indirect=True)


@each_kind
def test_an_upload_is_resumed_with_what_is_missing(state_url: str) -> None:
    before = ADA.get(state_url).json
    assert (before["state"], before["size"], before["parts"]) == ("awaited", SIZE, [])
    first, last = before["upload"]["parts"]
    assert (first["size"], last["size"], last["firstByte"]) == (MIN_PART_BYTES, 7, MIN_PART_BYTES)
    last_tag = put_part(last)
    after = ADA.get(state_url).json
    (part,) = after["parts"]
    assert (part["number"], part["firstByte"], part["size"], part["etag"]) == (2, MIN_PART_BYTES, 7, last_tag)
    assert [part["number"] for part in after["upload"]["parts"]] == [1]
    first_tag = put_part(after["upload"]["parts"][0])
    all_there = ADA.get(state_url).json
    assert (len(all_there["parts"]), all_there["upload"]["parts"]) == (2, [])
    assert complete(all_there["upload"], [first_tag, last_tag]) == 200
    done = ADA.get(state_url).json
    assert (done["state"], done["parts"], done["upload"]) == ("stored", [], None)
    # Completed twice: the state says what happened.
    assert complete(all_there["upload"], [first_tag, last_tag]) in (200, 404, 412)
    assert ADA.get(state_url).json["state"] == "stored"


def test_s3_is_to_list_the_checksum_of_each_part(world: World) -> None:
    """The stub always does; S3 does for an upload that was created with the algorithm."""
    sent: list[Any] = []
    events, name = clients.s3().meta.events, "before-call.s3.CreateMultipartUpload"
    note = lambda params, **_: sent.append(params["headers"])  # noqa: E731
    events.register(name, note)
    ADA.post("/imports", {"case": "Case", "fileName": "a.dat", "size": SIZE, "inParts": True})
    events.unregister(name, note)
    (headers,) = sent
    assert (headers["x-amz-checksum-algorithm"], headers["x-amz-checksum-type"]) == ("CRC64NVME", "FULL_OBJECT")


@each_kind
def test_a_part_that_is_sent_again_counts_as_it_is_now(state_url: str) -> None:
    last = ADA.get(state_url).json["upload"]["parts"][-1]
    tags = [put_part(last), put_part(last, DATA.replace(b"the end", b"THE END"))]
    (part,) = ADA.get(state_url).json["parts"]
    assert tags[0] != tags[1] == part["etag"]


@each_kind
def test_parts_that_s3_has_deleted_are_not_awaited(state_url: str, world: World) -> None:
    (lost,) = clients.s3().list_multipart_uploads(Bucket=world.bucket)["Uploads"]
    clients.s3().abort_multipart_upload(Bucket=world.bucket, Key=lost["Key"], UploadId=lost["UploadId"])
    state = ADA.get(state_url).json
    assert (state["state"], state["parts"], state["upload"]) == ("expired", [], None)


@each_kind
def test_another_file_at_the_place_is_named(state_url: str, world: World) -> None:
    (upload,) = clients.s3().list_multipart_uploads(Bucket=world.bucket)["Uploads"]
    clients.s3().put_object(Bucket=world.bucket, Key=upload["Key"], Body=b"12345")
    answer = ADA.get(state_url)
    assert (answer.status, answer.problem) == (409, "already-exists")
    assert "5 bytes instead of the announced" in answer.json["detail"]


@each_kind
def test_an_upload_is_its_tenants_and_its_editors(state_url: str) -> None:
    assert EVE.get(state_url).status == 404
    assert Client("acme", "vera").get(state_url).status == 200


@pytest.fixture(autouse=True)
def no_uploads_left(world: World) -> Iterator[None]:
    """The bucket is emptied of objects only."""
    yield
    for each in clients.s3().list_multipart_uploads(Bucket=world.bucket).get("Uploads", []):
        clients.s3().abort_multipart_upload(Bucket=world.bucket, Key=each["Key"], UploadId=each["UploadId"])


def test_an_upload_in_one_request_is_awaited_then_stored(world: World) -> None:
    created = ADA.post("/imports", {"case": "Case", "fileName": "a.dat", "size": len(CSV), "inParts": True}).json
    url = f"/imports/{created['id']}/upload"
    state = ADA.get(url).json
    assert (state["state"], state["upload"]["parts"]) == ("awaited", None)
    assert put(state["upload"]["url"], CSV, state["upload"]["headers"]).status == 200
    # Before the event, and after it.
    assert ADA.get(url).json["state"] == "stored"
    world.query("UPDATE imports SET upload_key = UNHEX(SHA2('arrived', 256)), status = 'splitting'")
    assert ADA.get(url).json["state"] == "stored"
    # Its checksum cannot be read any more.
    empty_bucket(world.bucket)
    assert read_checksum(url) == ("stored", None, None)


def test_the_sha_256_of_a_declared_file_is_that_of_the_bucket() -> None:
    volume = ADA.post("/volumes", {"case": "Case", "name": "V"}).json["id"]
    digest = hashlib.sha256(CSV)
    [file] = ADA.post(f"/volumes/{volume}/files", [{"path": "a", "size": len(CSV), "sha256": digest.hexdigest()}]).json[
        "items"
    ]
    url = f"/volumes/{volume}/upload?path=a"
    assert read_checksum(url) == ("awaited", None, None)
    assert put(file["upload"]["url"], CSV, file["upload"]["headers"]).status == 200
    assert read_checksum(url) == ("stored", "SHA256", base64.b64encode(digest.digest()).decode())


def test_a_cancelled_import_awaits_nothing(world: World) -> None:
    created = ADA.post("/imports", {"case": "Case", "fileName": "a.dat"}).json
    ADA.post(f"/imports/{created['id']}/cancel")
    answer = ADA.get(f"/imports/{created['id']}/upload")
    assert (answer.status, answer.problem) == (409, "wrong-state")
    assert "cancelled" in answer.json["detail"]


def test_what_an_earlier_version_began_is_resumed_by_its_request(world: World) -> None:
    created = ADA.post("/imports", {"case": "Case", "fileName": "a.dat", "size": 6_000_000_000}).json
    world.query("UPDATE imports SET multipart_id = NULL, part_bytes = NULL")
    assert "Idempotency-Key" in ADA.get(f"/imports/{created['id']}/upload").json["detail"]
    zipped = {"fileName": "v.zip", "size": 6_000_000_000}
    volume = ADA.post("/volumes", {"case": "Case", "name": "V", "archive": zipped}).json
    world.query("UPDATE volumes SET archive_size = NULL, archive_multipart_id = NULL, archive_part_bytes = NULL")
    assert "Idempotency-Key" in ADA.get(f"/volumes/{volume['id']}/upload").json["detail"]
    folder = ADA.post("/volumes", {"case": "Case", "name": "V"}).json["id"]
    file = {"path": "a.pst", "size": 6_000_000_000}
    first = ADA.post(f"/volumes/{folder}/files", [file]).json["items"][0]
    world.query("UPDATE volume_uploads SET part_bytes = NULL, begun_at = NULL")
    # Its parts are those that it always had.
    again = ADA.get(f"/volumes/{folder}/upload?path=a.pst").json
    assert [part["size"] for part in again["upload"]["parts"]] == [p["size"] for p in first["upload"]["parts"]]
    assert {part["size"] for part in again["upload"]["parts"]} == {100_000_000}


def test_a_file_in_parts_needs_its_size(world: World) -> None:
    answer = ADA.post("/imports", {"case": "Case", "fileName": "a.dat", "inParts": True})
    assert answer.status == 400
    assert "size" in str(answer.json)


def declared(*paths: str, size: int = 3) -> list[dict[str, Any]]:
    return [{"path": path, "size": size} for path in paths]


def test_files_that_are_there_are_not_uploaded_again(world: World) -> None:
    volume = ADA.post("/volumes", {"case": "Case", "name": "V"}).json
    paths = ["A/1.txt", "A/2.txt", "B ü/3.txt", "b.txt"]
    items = ADA.post(f"/volumes/{volume['id']}/files", declared(*paths)).json["items"]
    assert [each["stored"] for each in items] == [False] * 4
    for at in (0, 2):
        assert put(items[at]["upload"]["url"], b"abc", items[at]["upload"]["headers"]).status == 200
    # Of another size, as no client can put by these URLs.
    clients.s3().put_object(Bucket=world.bucket, Key=volume["prefix"] + "b.txt", Body=b"another size")
    again = ADA.post(f"/volumes/{volume['id']}/files", declared(*paths)).json["items"]
    assert [each["stored"] for each in again] == [True, False, True, False]
    assert [each["upload"] is None for each in again] == [True, False, True, False]
    assert put(again[1]["upload"]["url"], b"abc", again[1]["upload"]["headers"]).status == 200


def test_one_listing_of_few_pages_is_made_for_a_request(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    volume = ADA.post("/volumes", {"case": "Case", "name": "V"}).json
    names = [f"{n:04}.txt" for n in range(20)]
    ADA.post(f"/volumes/{volume['id']}/files", declared(*names))
    for name in names:
        clients.s3().put_object(Bucket=world.bucket, Key=volume["prefix"] + name, Body=b"abc")
    monkeypatch.setattr("shell.volumes.upload_state.MOST_LISTED", 5)
    pages: list[Any] = []

    def count(**request: Any) -> None:
        pages.append(request["params"])

    clients.s3().meta.events.register("before-call.s3.ListObjectsV2", count)
    items = ADA.post(f"/volumes/{volume['id']}/files", declared(*names[10:])).json["items"]
    clients.s3().meta.events.unregister("before-call.s3.ListObjectsV2", count)
    # It begins beside the first of them, and beyond its end nothing is known: the URL answers with 412.
    assert [each["stored"] for each in items] == [True] * 5 + [False] * 5
    assert put(items[9]["upload"]["url"], b"abc", items[9]["upload"]["headers"]).status == 412
    assert len(pages) == 1


def test_a_file_that_was_begun_a_week_ago_is_begun_again(world: World) -> None:
    volume = ADA.post("/volumes", {"case": "Case", "name": "V"}).json["id"]
    file = {"path": "a.pst", "size": SIZE, "inParts": True}
    url = f"/volumes/{volume}/upload?path=a.pst"
    ADA.post(f"/volumes/{volume}/files", [file])
    (old,) = clients.s3().list_multipart_uploads(Bucket=world.bucket)["Uploads"]
    world.query("UPDATE volume_uploads SET begun_at = begun_at - INTERVAL 6 DAY")
    ADA.post(f"/volumes/{volume}/files", [file])
    assert len(clients.s3().list_multipart_uploads(Bucket=world.bucket)["Uploads"]) == 1
    world.query("UPDATE volume_uploads SET begun_at = begun_at - INTERVAL 2 DAY")
    clients.s3().abort_multipart_upload(Bucket=world.bucket, Key=old["Key"], UploadId=old["UploadId"])
    assert ADA.get(url).json["state"] == "expired"
    (item,) = ADA.post(f"/volumes/{volume}/files", [file]).json["items"]
    tags = [put_part(part) for part in item["upload"]["parts"]]
    assert [part["number"] for part in ADA.get(url).json["parts"]] == [1, 2]
    assert complete(item["upload"], tags) == 200
    assert ADA.get(url).json["state"] == "stored"


def test_a_known_file_keeps_its_parts_whose_urls_fit_into_a_response(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Declared in parts before and without now, the URLs are those of all parts."""
    monkeypatch.setattr("shell.volumes.uploads.MAX_RESPONSE_BYTES", 400_000)
    volume, other = (ADA.post("/volumes", {"case": "Case", "name": "V"}).json["id"] for _ in range(2))
    plain = [{"path": f"{n}.pst", "size": 1_600_000_000} for n in range(2)]
    for each in plain:
        ADA.post(f"/volumes/{volume}/files", [{**each, "inParts": True}])
    found = ADA.post(f"/volumes/{volume}/files", plain).json
    assert ([len(each["upload"]["parts"]) for each in found["items"]], found["remaining"]) == ([100], 1)
    unknown = ADA.post(f"/volumes/{other}/files", plain).json
    assert ([each["upload"]["parts"] for each in unknown["items"]], unknown["remaining"]) == ([None, None], 0)


def test_a_path_is_named_for_a_folder_and_left_out_for_a_zip(world: World) -> None:
    folder = ADA.post("/volumes", {"case": "Case", "name": "V"}).json["id"]
    zipped = ADA.post("/volumes", {"case": "Case", "name": "V", "archive": {"fileName": "v.zip", "size": 5}}).json["id"]
    assert ADA.get(f"/volumes/{folder}/upload").status == 400
    assert ADA.get(f"/volumes/{zipped}/upload?path=a").status == 400
    assert ADA.get(f"/volumes/{folder}/upload?path=a").status == 404
    assert ADA.get(f"/volumes/{zipped}/upload").json["upload"]["url"]


@pytest.mark.parametrize("status", ["sealed", "ready", "deleting", "deleted"])
def test_a_volume_that_takes_no_files_signs_no_url(world: World, status: str) -> None:
    folder = ADA.post("/volumes", {"case": "Case", "name": "V"}).json["id"]
    ADA.post(f"/volumes/{folder}/files", declared("a.txt"))
    zipped = ADA.post("/volumes", {"case": "Case", "name": "V", "archive": {"fileName": "v.zip", "size": 5}}).json["id"]
    world.query("UPDATE volumes SET status = :s, archive_version_id = IF(archive_key IS NULL, NULL, 'v')", s=status)
    answer = ADA.get(f"/volumes/{folder}/upload?path=a.txt")
    assert (answer.status, answer.problem) == (409, "wrong-state")
    assert status in answer.json["detail"]
    # What was sealed is there, unless it is deleted.
    found = ADA.get(f"/volumes/{zipped}/upload")
    assert found.status == 409 if status.startswith("delet") else found.json["state"] == "stored"
