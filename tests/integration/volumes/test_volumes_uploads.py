"""Declaring, sealing and deleting volumes: what clients may do when, and which URLs they get."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from core.contracts.imports.checks import RunRequest
from core.contracts.pages import ListQuery
from core.contracts.queries import VolumeQuery
from core.contracts.volumes import NewVolume, NewVolumeFile
from core.errors import AlreadyExistsError, InvalidInputError, NotFoundError, WrongStateError
from core.statuses import VolumeStatus
from shell.aws import clients
from shell.db.session import session
from shell.imports.commands import retry_import
from shell.imports.steps import run_import
from shell.volumes import deletion
from shell.volumes.commands import delete_volume
from shell.volumes.queries import list_files, list_volumes
from shell.volumes.uploads import create_volume, declare_files, sign_stored_files, sign_stored_volume
from tests.integration.volumes.volume_requests import (
    CALLER,
    FILES,
    STRANGER,
    committed,
    create,
    declare,
    drain,
    import_rows,
    process,
    put,
    request,
    run,
    state,
    stored,
    upload,
    upload_zip,
    versions,
    work_messages,
)
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.productions.runs import ask
from tests.support.productions.written_volumes import exhibit

LARGE = 7_000_000_000


def declare_one(volume_id: int, **file: Any) -> Any:
    """Declare a file; returns its URLs."""
    pending = committed(declare_files, CALLER, volume_id, [NewVolumeFile.model_validate(file)])
    return sign_stored_files(volume_id, pending.model_dump_json(by_alias=True)).items[0].upload


def signed(url: str | None) -> set[str]:
    """The headers that a URL signs."""
    return set(parse_qs(urlsplit(url or "").query)["X-Amz-SignedHeaders"][0].split(";"))


def test_a_url_signs_size_condition_and_hash(world: World) -> None:
    urls = declare_one(create(), path="NATIVES/1.txt", size=5, sha256="ab" * 32)
    assert {"content-length", "if-none-match", "x-amz-checksum-sha256"} <= signed(urls.url)
    assert urls.headers == {
        "If-None-Match": "*",
        "x-amz-checksum-sha256": "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=",
    }


def test_a_file_above_5_gb_is_uploaded_in_parts_of_one_upload(world: World) -> None:
    volume_id = create()
    first, again = (declare_one(volume_id, path="big.pst", size=LARGE) for _ in range(2))
    assert (first.url, len(first.parts), sum(part.size for part in first.parts)) == (None, 70, LARGE)
    assert (
        parse_qs(urlsplit(first.complete_url).query)["uploadId"]
        == parse_qs(urlsplit(again.complete_url).query)["uploadId"]
    )


def test_a_request_has_at_most_a_thousand_urls(world: World) -> None:
    files = [NewVolumeFile(path=f"{n}.pst", size=LARGE) for n in range(15)]
    with pytest.raises(InvalidInputError, match="1000"):
        committed(declare_files, CALLER, create(), files)


def test_a_large_zip_is_uploaded_in_parts(world: World) -> None:
    body = {"case": "Case", "name": "V", "archive": {"fileName": "v.zip", "size": 10**12}}
    pending = committed(create_volume, CALLER, NewVolume.model_validate(body))
    made = sign_stored_volume(pending.model_dump_json(by_alias=True))
    assert made.upload is not None
    assert len(made.upload.parts or []) == 1_000


def test_a_path_that_was_declared_with_another_size_is_refused(world: World) -> None:
    volume_id = create()
    declare(volume_id, {"a.txt": b"1"})
    declare(volume_id, {"a.txt": b"2"})
    with pytest.raises(AlreadyExistsError, match=r"a\.txt"):
        declare(volume_id, {"a.txt": b"22"})


@pytest.mark.parametrize("path", ["../a", "/a", "a//b", "a\\b", "C:/a", "a/", "./a", "a\x01", "é" * 512])
def test_what_is_no_path_within_a_volume_is_refused(world: World, path: str) -> None:
    with pytest.raises(InvalidInputError):
        declare(create(), {path: b""})


def test_a_volume_with_missing_files_is_not_sealed(world: World) -> None:
    volume_id = create()
    declare(volume_id, {f"NATIVES/{n:02}.txt": b"1" for n in range(30)})
    put(world, volume_id, "NATIVES/00.txt", b"1")
    put(world, volume_id, "NATIVES/01.txt", b"another size")
    with pytest.raises(WrongStateError, match=r"29 declared files.*'NATIVES/01.txt'.*and 9 more"):
        request(volume_id)
    assert state(volume_id).status == VolumeStatus.OPEN
    assert work_messages() == []


def test_a_zip_that_is_not_uploaded_is_not_sealed(world: World) -> None:
    with pytest.raises(WrongStateError, match="The zip is not uploaded"):
        request(create(archive={"fileName": "v.zip", "size": 5}))


def test_a_sealed_volume_takes_no_files_and_no_second_request(world: World) -> None:
    volume_id = upload(world)
    request(volume_id)
    with pytest.raises(WrongStateError, match="takes no more files"):
        declare(volume_id, {"a.txt": b"1"})
    with pytest.raises(WrongStateError, match="wait until it is ready or failed"):
        request(volume_id)


def test_a_volume_is_not_imported_twice_at_once(world: World) -> None:
    volume_id = upload(world)
    run(volume_id)
    with pytest.raises(WrongStateError, match="has not ended"):
        request(volume_id)


def test_files_are_listed_in_pages(world: World) -> None:
    volume_id = upload(world)
    run(volume_id)
    first = list_files(CALLER, volume_id, ListQuery(limit=3))
    rest = list_files(CALLER, volume_id, ListQuery(limit=3, after=first.next))
    assert [file.number for file in (*first.items, *rest.items)] == [0, 1, 2, 3]
    assert rest.next is None


def test_another_tenant_has_none_of_it(world: World) -> None:
    volume_id = upload(world)
    for attempt in (
        lambda: state(volume_id, STRANGER),
        lambda: list_files(STRANGER, volume_id, ListQuery(limit=3)),
        lambda: declare(volume_id, {"a.txt": b"1"}, STRANGER),
        lambda: request(volume_id, STRANGER),
        lambda: committed(delete_volume, STRANGER, volume_id),
    ):
        with pytest.raises(NotFoundError):
            attempt()
    assert list_volumes(STRANGER, VolumeQuery()).items == []
    assert [each.id for each in list_volumes(CALLER, VolumeQuery(case="Case")).items] == [volume_id]


def archives(world: World) -> int:
    """How many versions of zips there are."""
    return len(clients.s3().list_object_versions(Bucket=world.bucket, Prefix="archives/tenant/").get("Versions", []))


@pytest.mark.parametrize("send", [upload, upload_zip])
def test_a_volume_that_no_import_needs_is_deleted_with_every_version(world: World, send: Any) -> None:
    volume_id, other = send(world), upload(world)
    run(volume_id)
    world.query("UPDATE imports SET status = 'undone'")
    put(world, volume_id, "late.txt")
    before = archives(world)
    committed(delete_volume, CALLER, volume_id)
    assert drain(volume_id).status == VolumeStatus.DELETED
    assert (versions(world, volume_id), stored(world, volume_id)) == ({}, [])
    assert archives(world) == before - (send is upload_zip)
    assert len(versions(world, other)) == len(FILES)


@pytest.mark.parametrize("is_ended", [False, True])
def test_a_repeated_request_signs_no_urls_for_a_deleted_volume(world: World, is_ended: bool) -> None:
    """What is put with a URL of a later date may come after the last purge that looks for it."""
    client, volume_id = Client(CALLER.tenant_id, CALLER.user_id), create()
    zipped = {"case": "Case", "name": "Z", "archive": {"fileName": "z.zip", "size": 5}}
    requests = ("/volumes", zipped, "zip"), (f"/volumes/{volume_id}/files", [{"path": "a.txt", "size": 1}], "files")
    made, declared = [client.post(*each) for each in requests]
    assert (made.json["upload"]["url"] is not None, len(declared.json["items"])) == (True, 1)
    for each in (volume_id, made.json["id"]):
        committed(delete_volume, CALLER, each)
        if is_ended:
            assert drain(each).status == VolumeStatus.DELETED
    for reply in (client.post(*each) for each in requests):
        assert (reply.status, reply.problem) == (409, "wrong-state")
        assert "takes no more files" in reply.json["detail"]


@pytest.mark.parametrize(
    ("change", "is_needed"),
    [
        ("status = 'running'", True),
        ("status = 'completed', imported = 2", True),
        ("status = 'completed'", False),
        ("status = 'undone_with_conflicts'", True),
        ("status = 'cancelled', imported = 1", True),
        ("status = 'cancelled'", False),
        ("status = 'failed'", False),
        ("status = 'checked'", False),
        ("status = 'undone', imported = 2", False),
    ],
)
def test_a_volume_is_deleted_only_if_no_import_needs_it(world: World, change: str, is_needed: bool) -> None:
    volume_id = upload(world)
    run(volume_id)
    world.query(f"UPDATE imports SET {change}")
    if not is_needed:
        assert committed(delete_volume, CALLER, volume_id).status == VolumeStatus.DELETING
        return
    with pytest.raises(WrongStateError, match="needs the files"):
        committed(delete_volume, CALLER, volume_id)


@pytest.mark.parametrize("begin", [retry_import, partial(run_import, body=RunRequest())], ids=["retry", "run"])
def test_an_import_whose_volume_is_being_deleted_does_not_begin(world: World, begin: Any) -> None:
    volume_id = upload(world)
    run(volume_id, dryRun=True)
    import_id = import_rows(world, volume_id)[0]["id"]
    world.query("UPDATE imports SET status = 'checked'")
    committed(delete_volume, CALLER, volume_id)
    with pytest.raises(WrongStateError, match="The files of the volume are deleted"):
        committed(begin, CALLER, import_id)
    assert import_rows(world, volume_id)[0]["status"] == "checked"


def test_a_deletion_waits_for_the_retry_of_an_import_of_its_volume(world: World) -> None:
    volume_id = upload(world)
    run(volume_id)
    world.query("UPDATE imports SET status = 'failed', failure_code = 'NOT_READ'")
    with session() as retrying:
        retry_import(retrying, CALLER, import_rows(world, volume_id)[0]["id"])
        with session() as deleting:
            deleting.execute(text("SET innodb_lock_wait_timeout = 1"))
            with pytest.raises(OperationalError):
                delete_volume(deleting, CALLER, volume_id)
    with pytest.raises(WrongStateError, match="needs the files"):
        committed(delete_volume, CALLER, volume_id)


def test_a_volume_that_had_imports_is_not_deleted_while_a_production_of_its_case_runs(world: World) -> None:
    volume_id, never_imported = upload(world), upload(world, name="VOL002")
    run(volume_id)
    world.query("UPDATE imports SET status = 'undone'")
    exhibit(world, "B-1")
    production = ask()
    with pytest.raises(WrongStateError, match=f"Production {production} of the case"):
        committed(delete_volume, CALLER, volume_id)
    assert committed(delete_volume, CALLER, never_imported).status == VolumeStatus.DELETING
    world.query("UPDATE productions SET status = 'cancelled'")
    assert committed(delete_volume, CALLER, volume_id).status == VolumeStatus.DELETING


def test_a_deletion_that_runs_out_of_time_goes_on_with_a_new_message(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shell.aws.object_versions.PAGE", 2)
    monkeypatch.setattr(deletion, "build_deadline_check", lambda _: lambda: True)
    volume_id = upload(world)
    committed(delete_volume, CALLER, volume_id)
    deletion.delete_volume_part(volume_id)
    assert 0 < len(versions(world, volume_id)) < len(FILES)
    assert drain(volume_id).status == VolumeStatus.DELETED


def test_what_is_expanded_while_its_volume_is_deleted_is_not_recorded(world: World) -> None:
    volume_id = upload_zip(world)
    request(volume_id)
    for message in work_messages():
        assert process(message)
    (unit,) = work_messages()
    committed(delete_volume, CALLER, volume_id)

    assert process(unit)
    assert state(volume_id).status == VolumeStatus.DELETING
