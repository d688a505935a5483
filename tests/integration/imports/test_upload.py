"""Announcing a load file, uploading it with nothing but the answer, and what becomes of one that never comes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from core.contracts.imports.announcements import SINGLE_PUT_BYTES, NewImport, PendingUpload, UploadUrls
from core.errors import InvalidInputError, NotFoundError, StorageUnavailableError
from shell.aws import clients
from shell.db.session import session
from shell.imports import upload_expiry
from shell.imports.upload_expiry import expire_uploads
from shell.imports.uploads import create_import, sign_stored_upload, sign_upload
from tests.integration.imports.conftest import Setting
from tests.integration.imports.import_requests import (
    CALLER,
    THREE,
    announce,
    committed,
    events,
    put,
    run_chunks,
    start,
    state,
)
from tests.support.application.driver import World

MINIMUM_PART = 5 * 1024 * 1024
AGE = "UPDATE imports SET started_at = started_at - INTERVAL :hours HOUR WHERE id = :id"


class Reply(NamedTuple):
    """What S3 answers to an upload; `code` is that of its error."""

    status: int
    etag: str
    code: str


def attempt(method: str, url: str | None, body: bytes, headers: Mapping[str, str]) -> Reply:
    """Send a body as `curl -T` does, with its length and these headers."""
    parts = urlsplit(str(url))
    connection = HTTPConnection(parts.netloc, timeout=30)
    connection.request(method, f"{parts.path}?{parts.query}", body, dict(headers))
    answer = connection.getresponse()
    code = re.search(r"<Code>(\w+)</Code>", answer.read().decode())
    connection.close()
    return Reply(answer.status, str(answer.headers.get("ETag")), code[1] if code else "")


def send(method: str, url: str | None, body: bytes, headers: Mapping[str, str]) -> str:
    """Send a body that is taken; returns the ETag."""
    reply = attempt(method, url, body, headers)
    assert reply.status == 200, reply
    return reply.etag


def stored(pending: PendingUpload) -> bytes:
    """What lies at the place of the upload."""
    return clients.s3().get_object(Bucket=pending.bucket, Key=pending.object_key)["Body"].read()


def announced_in_parts(size: int) -> PendingUpload:
    """An upload of so many bytes, in the smallest parts that S3 takes."""
    body = NewImport.model_validate({"case": "Case", "fileName": "large.dat", "size": size})
    return committed(create_import, CALLER, body, multipart_from=1, part_bytes=MINIMUM_PART)


def test_a_file_is_uploaded_with_the_answer_alone_and_imported(world: World) -> None:
    pending = announce(case="Smith v. Müller & Söhne", fileName="Prod 1 + 2%20.dat")
    answer = sign_upload(pending)
    assert answer.upload.parts is None
    assert signed(answer.upload.url) == ["host", "if-none-match"]
    send("PUT", answer.upload.url, THREE, answer.upload.headers)
    assert stored(pending) == THREE
    assert start(world.notification_of(pending.object_key))
    run_chunks(world)
    assert (state(pending.id).status, state(pending.id).imported) == ("completed", 3)
    names = world.query("SELECT c.name, i.file_name FROM imports i JOIN cases c ON c.id = i.case_id")
    assert names == [("Smith v. Müller & Söhne", "Prod 1 + 2%20.dat")]


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_overlay_of_a_case_that_does_not_exist_is_refused_and_creates_none(world: World, dry_run: bool) -> None:
    with pytest.raises(NotFoundError, match=r"no case with this name.*append_overlay"):
        announce(dryRun=dry_run, options={"mode": "overlay"})
    assert world.query("SELECT COUNT(*) FROM cases") == [(0,)]
    for mode in ("append_overlay", "overlay"):
        assert announce(dryRun=dry_run, options={"mode": mode}).id


def signed(url: str | None) -> list[str]:
    """The headers that must be sent as they were signed; beside them, a client may send any other."""
    query = parse_qs(urlsplit(str(url)).query)
    assert query["X-Amz-Expires"] == ["3600"]
    assert not [name for name in query if "checksum" in name.lower()]
    return query["X-Amz-SignedHeaders"][0].split(";")


def uploaded_in_parts(upload: UploadUrls, data: bytes) -> Reply:
    """Put the parts and complete the upload."""
    assert upload.parts is not None
    sent = ((p.number, send("PUT", p.url, data[p.first_byte : p.first_byte + p.size], {})) for p in upload.parts)
    parts = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>" for number, etag in sent)
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    return attempt("POST", upload.complete_url, body, upload.headers)


@pytest.mark.parametrize("size", [len(THREE), None], ids=["announced size", "any size"])
def test_an_upload_is_put_once_and_a_repeated_one_is_refused(world: World, size: int | None) -> None:
    pending = announce(size=size)
    upload, other = sign_upload(pending).upload, THREE.replace(b"A", b"B", 1)
    assert attempt("PUT", upload.url, THREE, {}) == (403, "None", "SignatureDoesNotMatch"), "without the header"
    assert attempt("PUT", upload.url, THREE, {"If-None-Match": '"etag"'}).status == 403
    send("PUT", upload.url, THREE, upload.headers)
    for data in (THREE, other):
        for urls in (upload, sign_upload(pending).upload):
            reply = attempt("PUT", urls.url, data, urls.headers)
            assert (reply.status, reply.code) == (412, "PreconditionFailed")
    assert stored(pending) == THREE
    versions = clients.s3().list_object_versions(Bucket=pending.bucket, Prefix=pending.object_key)["Versions"]
    assert len(versions) == 1
    assert start(world.notification_of(pending.object_key))
    assert state(pending.id).status == "running"


def test_of_an_announced_size_not_a_byte_more_or_less_is_taken(world: World) -> None:
    pending = announce(size=len(THREE))
    upload = sign_upload(pending).upload
    assert signed(upload.url) == ["content-length", "host", "if-none-match"]
    for data in (THREE[:-1], THREE + b" ", b""):
        assert attempt("PUT", upload.url, data, upload.headers).code == "SignatureDoesNotMatch"
    send("PUT", upload.url, THREE, upload.headers)
    any_size = sign_upload(announce()).upload
    send("PUT", any_size.url, THREE + b" ", any_size.headers)


def test_what_was_announced_before_sizes_were_signed_can_still_be_uploaded(world: World) -> None:
    kept = announce(size=len(THREE)).model_dump_json(by_alias=True, exclude={"size"})
    upload = sign_stored_upload(kept).upload
    send("PUT", upload.url, THREE, upload.headers)


def test_a_signed_address_without_the_header_overwrites(world: World) -> None:
    """The negative control: what is signed for."""
    pending = announce()
    place = {"Bucket": pending.bucket, "Key": pending.object_key}
    plain = clients.s3().generate_presigned_url("put_object", Params=place)
    for data in (THREE, THREE + b" "):
        send("PUT", plain, data, {})
    assert stored(pending) == THREE + b" "


def test_a_large_file_is_uploaded_in_parts(world: World) -> None:
    data = THREE * (MINIMUM_PART // len(THREE) + 1) + b"the rest"
    pending = announced_in_parts(len(data))
    upload = sign_upload(pending).upload
    assert upload.url is None
    assert upload.parts is not None
    assert len(upload.parts) == 2
    assert [signed(part.url) for part in upload.parts] == [["content-length", "host"]] * 2
    assert signed(upload.complete_url) == ["host", "if-none-match"]
    assert attempt("PUT", upload.parts[1].url, data, {}).code == "SignatureDoesNotMatch"
    assert attempt("POST", upload.complete_url, b"<x/>", {}).code == "SignatureDoesNotMatch"
    assert uploaded_in_parts(upload, data).status == 200
    assert stored(pending) == data


def test_parts_do_not_replace_a_file_that_is_there(world: World) -> None:
    data = THREE * (MINIMUM_PART // len(THREE) + 1)
    pending = announced_in_parts(len(data))
    clients.s3().put_object(Bucket=pending.bucket, Key=pending.object_key, Body=THREE)
    reply = uploaded_in_parts(sign_upload(pending).upload, data)
    assert (reply.status, reply.code, stored(pending)) == (412, "PreconditionFailed", THREE)


def test_what_one_put_cannot_take_is_uploaded_in_parts(world: World) -> None:
    announced = [announce(size=size) for size in (None, SINGLE_PUT_BYTES - 1, SINGLE_PUT_BYTES)]
    assert [each.multipart_id is not None for each in announced] == [False, False, True]
    upload = sign_upload(announce(size=100_000_000_000)).upload
    assert upload.parts is not None
    assert sum(part.size for part in upload.parts) == 100_000_000_000
    assert [part.first_byte for part in upload.parts] == list(range(0, 100_000_000_000, 100_000_000))
    assert len({each.case_id for each in announced}) == 1, "imports announced for one case share it"
    assert announce(case="case").case_id != announced[0].case_id


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"case": "ü" * 255, "fileName": "ü" * 255}, "1024"),
        ({"options": {"encoding": "klingon"}}, "Unknown encoding"),
        ({"options": {"columns": {"Title": "nonsense"}}}, "not a field"),
    ],
)
def test_what_cannot_be_imported_is_refused_before_anything_is_written(
    world: World, body: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        announce(**body)
    assert world.query("SELECT (SELECT COUNT(*) FROM imports), (SELECT COUNT(*) FROM cases)") == [(0, 0)]


def test_a_storage_failure_is_reported_before_anything_is_locked(world: World, setting: Setting) -> None:
    setting("BUCKET", "no-such-bucket")
    with session() as transaction:
        body = NewImport.model_validate({"case": "Case", "fileName": "large.dat", "size": SINGLE_PUT_BYTES})
        with pytest.raises(StorageUnavailableError):
            create_import(transaction, CALLER, body)
        assert not transaction.in_transaction()
    assert world.query("SELECT COUNT(*) FROM cases") == [(0,)]


def test_files_that_never_came_fail_their_imports_after_a_week(world: World) -> None:
    late, later, early = announce(), announce(), announce()
    for pending, hours in ((late, 7 * 24 + 2), (later, 7 * 24 + 1), (early, 7 * 24 - 1)):
        world.query(AGE, hours=hours, id=pending.id)
    assert (expire_uploads(1), state(later.id).status) == (1, "awaiting_upload"), "no more than requested"
    assert (expire_uploads(10), expire_uploads(10)) == (1, 0)
    expired = state(late.id)
    assert (expired.status, expired.failure_code) == ("failed", "NOT_UPLOADED")
    assert expired.finished_at is not None
    assert (state(later.id).status, state(early.id).status) == ("failed", "awaiting_upload")
    assert events(world, "import.failed") == [
        {"importId": each.id, "tenantId": "tenant", "code": "NOT_UPLOADED"} for each in (late, later)
    ]


def test_an_import_whose_file_came_meanwhile_does_not_expire(world: World) -> None:
    pending = announce()
    world.query(AGE, hours=8 * 24, id=pending.id)
    overdue = upload_expiry._find_overdue(upload_expiry._AWAITED, 10)
    assert start(put(pending, THREE))
    assert (overdue, upload_expiry._expire(upload_expiry._AWAITED, overdue)) == ([pending.id], 0)
    assert state(pending.id).status == "running"
    assert events(world, "import.failed") == []
