"""`exhibit-ingest import` and `check` of folders and zips, with a running stack that all tests of this module share."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from sqlalchemy import URL

from exhibit_ingest.sign_in.surroundings import Surroundings
from local.command.unfinished import list_unfinished
from local.command.workspace import Workspace
from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume
from tests.support.volumes.served import Document, Served, interrupt, once, serve, use
from tests.support.volumes.zip_bytes import ENCRYPTED, Entry, build_zip

pytestmark = pytest.mark.slow

VOLUME = generate_volume(VolumeSpec(families=4))
_DOCUMENTS = """
    SELECT e.control_number, e.parent_control_number, e.version,
      (SELECT GROUP_CONCAT(x.kind, ' ', f.path, ' ', x.rule ORDER BY x.kind) FROM exhibit_files x
        JOIN volume_files f ON f.id = x.file_id WHERE x.exhibit_id = e.id) AS files,
      (SELECT GROUP_CONCAT(p.page_no, ' ', p.image_key, ' ', COALESCE(f.path, p.path) ORDER BY p.page_no)
        FROM pages p LEFT JOIN volume_files f ON f.id = p.file_id WHERE p.page_set_id = e.page_set_id) AS pages
    FROM exhibits e JOIN cases c ON c.id = e.case_id WHERE c.name = :name ORDER BY e.control_number
"""
# So slow that what happens meanwhile happens in the middle: the volume has about 10 kB.
SLOWLY = ("--limit-rate", "2k")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[tuple[LocalStack, Workspace]]:
    with serve(tmp_path_factory.mktemp("state"), schema_url, "volumes") as stack:
        yield stack


@pytest.fixture
def served(running: tuple[LocalStack, Workspace], capsys: pytest.CaptureFixture[str]) -> Iterator[Served]:
    with use(running, capsys) as served:
        yield served


def list_documents(served: Served, case: str) -> list[tuple[Any, ...]]:
    """The documents of a case with their files and pages."""
    return served.query(_DOCUMENTS, name=case)


def compress(folder: Path) -> Path:
    """A zip of the folder, beside it."""
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for file in sorted(folder.rglob("*")):
            written.write(file, file.relative_to(folder.parent))
    return archive


def describe(document: Document) -> tuple[Any, ...]:
    """What does not depend on the place and the moment of an import."""
    volume = {name: document["volume"][name] for name in ("name", "files", "bytes")}
    codes = [(each["status"], each["rejected_by_code"], each["warnings_by_code"]) for each in document["imports"]]
    return volume, codes, document["pages"], document["files"], document["error"]


def test_a_folder_is_checked_then_imported_and_its_zip_gives_the_same(served: Served, tmp_path: Path) -> None:
    folder, documents, pages = VOLUME.write(tmp_path), len(VOLUME.documents), VOLUME.pages
    code, checked = served.run("check", folder, "--case", "folder")
    found = {each["code"]: each["count"] for check in checked["checks"] for each in check["findings"]}
    missing = {"NATIVE_MISSING": 1, "TEXT_MISSING": 1, "IMAGE_MISSING": 2}
    assert (code, found) == (3, {**missing, "OPT_DOC_NOT_FOUND": 1, "PAGES_MISSING": 1})
    assert list_documents(served, "folder") == []
    code, imported = served.run("import", folder, "--case", "folder")
    assert code == 3
    # The files of the check are those of the import.
    assert served.list_volumes("folder") == [("ready", imported["volume"]["files"])]
    ends = {"first": VOLUME.documents[0].numbers[0], "last": VOLUME.documents[-1].numbers[-1]}
    named = {"natives": documents - 1, "texts": documents - 1, "bates": ends}
    assert imported["found"] == {"documents": documents, "pages": pages, **named}
    code, different = served.run(
        "check", folder, "--case", "folder", "--mode", "append_overlay", "--expect", f"documents=99,pages={pages}"
    )
    assert (code, different["differences"]) == (1, [{"name": "documents", "expected": 99, "found": documents}])
    assert imported["volume"].keys() >= {"name", "files", "bytes", "load_file", "image_load_file"}
    counts = {name: imported["pages"][name] for name in ("lines_seen", "imported", "rejected", "documents")}
    assert counts == {"lines_seen": pages + 1, "imported": pages, "rejected": 1, "documents": documents}
    paths = imported["files"].pop("paths")
    assert [(each["kind"], each["missing"], each["advice"]) for each in paths] == [
        *(("native", 1, None), ("text", 1, None), ("image", 1, None)),
    ]
    assert [[(one["rule"], one["files"]) for one in each["found_by_rule"]] for each in paths[:2]] == [
        [(4, documents - 1)],
        [(4, documents - 1)],
    ]
    assert imported["files"] == {
        "natives_linked": documents - 1,
        "natives_missing": 1,
        "texts_linked": documents - 1,
        "texts_missing": 1,
        "hash_mismatches": None,
        "hashes_not_compared": {"MD5 Hash": documents - 1},
        "unreferenced": 1,
        "of_rejected_rows": 0,
    }
    assert [(each["rejected_by_code"], each["warnings_by_code"]) for each in imported["imports"]] == [
        ({}, {"NATIVE_MISSING": 1, "TEXT_MISSING": 1}),
        ({"OPT_DOC_NOT_FOUND": 1}, {"IMAGE_MISSING": 1, "PAGES_MISSING": 1}),
    ]
    assert {fault.code for fault in VOLUME.faults} == {
        *("NATIVE_MISSING", "TEXT_MISSING", "IMAGE_MISSING", "PAGES_MISSING", "OPT_DOC_NOT_FOUND"),
        "UNREFERENCED_FILE",
    }
    code, expanded = served.run("import", compress(folder), "--case", "zip")
    # What is in a zip is read.
    assert expanded["files"]["hash_mismatches"] == 0
    in_zip = expanded["files"].pop("paths")
    assert [{**each, "found_by_rule": []} for each in in_zip] == [{**each, "found_by_rule": []} for each in paths]
    expanded["files"] |= {name: imported["files"][name] for name in ("hash_mismatches", "hashes_not_compared")}
    assert (code, describe(expanded)) == (3, describe(imported))
    # The paths of the zip begin with its folder.
    documents_of_zip = [
        tuple(str(cell).replace("VOL001/", "") for cell in row) for row in list_documents(served, "zip")
    ]
    assert documents_of_zip == [tuple(map(str, row)) for row in list_documents(served, "folder")]
    assert [row[0] for row in list_documents(served, "zip")] == [each.numbers[0] for each in VOLUME.documents]
    assert list_documents(served, "folder")[2][3:] == (
        "native NATIVES/DEMO0000004.txt 4,text TEXT/DEMO0000004.txt 4",
        ",".join(f"{page} DEMO000000{n} IMAGES/DEMO000000{n}.tif" for page, n in ((1, 4), (2, 6))),
    )


def test_images_of_another_volume_give_no_page_to_any_document(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    (folder / "DATA/VOL001.opt").unlink()
    assert served.run("import", folder, "--case", "other")[0] == 0
    before = list_documents(served, "other")
    other = generate_volume(VolumeSpec("VOL002", prefix="OTHER", families=3, has_faults=False))
    images = other.write(tmp_path)
    (images / "DATA/VOL002.dat").unlink()
    code, result = served.run("import", images, "--case", "other", "--image-load-file", "DATA/VOL002.opt")
    [rejected] = result["imports"]
    assert (code, rejected["rejected_by_code"]) == (3, {"OPT_DOC_NOT_FOUND": len(other.documents)})
    assert (rejected["imported"], result["pages"]["rejected"], result["pages"]["imported"]) == (0, other.pages, 0)
    assert list_documents(served, "other") == before


def test_images_are_not_imported_if_their_data_file_is_not(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    (folder / "DATA/VOL001.dat").write_bytes(b"Title,Author\r\nOne,Ada\r\n")
    code, result = served.run("import", folder, "--case", "blocked")
    rows, images = result["imports"]
    assert (code, rows["status"], images["status"]) == (1, "failed", "failed")
    assert "NO_ID_COLUMN" in rows["error"]
    assert images["error"] == "it was not imported, because the data file of its volume was not"


def send_a_part(served: Served, folder: Path, case: str) -> None:
    """Interrupt the command once some files are there."""
    with once(lambda: served.count_objects(case) >= 2, interrupt):
        code, result = served.run("import", folder, "--case", case, *SLOWLY)
    assert (code, result["imports"], result["error"]) == (128 + signal.SIGTERM, [], "the command was interrupted")
    assert "Run the same command again to send the rest." in served.errors


def test_an_upload_that_was_interrupted_goes_on_where_it_ended(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    files = len([*folder.rglob("*.*")])
    send_a_part(served, folder, "again")
    assert f" of {files} files, " in served.errors
    assert served.list_volumes("again") == [("open", 0)]
    assert served.run("import", folder, "--case", "again")[0] == 3
    assert served.list_volumes("again") == [("ready", files)]


def test_a_file_with_the_size_and_time_of_one_that_was_sent_is_not_taken_for_it(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    send_a_part(served, folder, "bytes")
    for file in folder.rglob("*.*"):
        before = file.stat()
        file.write_bytes(file.read_bytes()[:-1] + b"\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    _, result = served.run("import", folder, "--case", "bytes")
    assert result["error"] is None
    [(prefix,)] = served.query("SELECT prefix FROM volumes WHERE id = :id", id=result["volume"]["id"])
    for file in folder.rglob("*.*"):
        key = prefix + file.relative_to(folder).as_posix()
        stored = served.stack.s3.get_object(Bucket=served.stack.bucket, Key=key)["Body"].read()
        assert stored == file.read_bytes()


def test_a_file_that_vanishes_while_the_folder_is_sent_is_named(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    last = max(folder.rglob("*.*"))
    with once(lambda: served.count_objects("vanishes") >= 1, last.unlink):
        code, result = served.run("import", folder, "--case", "vanishes", *SLOWLY)
    name = last.relative_to(folder).as_posix()
    assert (code, result["imports"]) == (1, [])
    assert f"{name} was changed, moved or removed while it was sent." in result["error"]


def test_a_choice_of_load_files_is_left_to_the_user_and_nothing_is_sent_twice(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    (folder / "DATA" / "VOL001_v2.dat").write_bytes((folder / "DATA" / "VOL001.dat").read_bytes())
    code, result = served.run("import", folder, "--case", "choice")
    assert (code, result["imports"]) == (1, [])
    assert "SEVERAL_LOAD_FILES: The volume has several load files: DATA/VOL001.dat" in result["error"]
    assert "Set --load-file to the path of one." in result["error"]
    assert served.run("check", folder, "--case", "choice", "--load-file", "DATA/VOL001_v2.dat")[0] == 3
    assert served.run("import", folder, "--case", "choice", "--load-file", "DATA/VOL001_v2.dat")[0] == 3
    assert [status for status, _ in served.list_volumes("choice")] == ["ready"]
    assert len(list_documents(served, "choice")) == len(VOLUME.documents)


def test_a_zip_with_a_password_is_refused_with_the_entry(served: Served, tmp_path: Path) -> None:
    archive = tmp_path / "VOL001.zip"
    archive.write_bytes(build_zip([Entry(b"a.dat", b"Control Number\nA-1\n"), Entry(b"1.doc", b"x", flags=ENCRYPTED)]))
    code, result = served.run("import", archive, "--case", "password")
    assert (code, result["imports"]) == (1, [])
    assert "ZIP_ENCRYPTED: Entry '1.doc'" in result["error"]


def test_s3_on_this_machine_refuses_other_bytes_than_those_of_the_checksum(served: Served) -> None:
    place = {"Bucket": served.stack.bucket, "Key": "checked"}
    digest = base64.b64encode(hashlib.sha256(b"these").digest()).decode()
    s3: Any = served.stack.s3
    with pytest.raises(ClientError, match="BadDigest"):
        s3.put_object(**place, Body=b"those", ChecksumSHA256=digest)
    s3.put_object(**place, Body=b"these", ChecksumSHA256=digest)
    assert s3.head_object(**place, ChecksumMode="ENABLED")["ChecksumSHA256"] == digest


def test_a_folder_that_was_changed_after_an_interruption_is_another_volume(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    send_a_part(served, folder, "changed")
    (folder / "TEXT/DEMO0000001.txt").write_bytes(b"another text")
    (folder / "NATIVES/unnamed.txt").unlink()
    code, result = served.run("import", folder, "--case", "changed")
    assert (code, result["error"], result["files"]["unreferenced"]) == (3, None, 0)
    assert [status for status, _ in served.list_volumes("changed")] == ["open", "ready"]


def test_an_interruption_leaves_no_import_running_and_the_same_command_adds_the_rest(
    served: Served, tmp_path: Path
) -> None:
    folder, count = VOLUME.write(tmp_path), "SELECT COUNT(*) FROM imports i JOIN cases c ON c.id = i.case_id"
    with served.engine.connect() as locking:
        # No chunk is written before.
        locking.exec_driver_sql("LOCK TABLES exhibits WRITE")

        def has_imports() -> bool:
            return served.query(f"{count} WHERE c.name = 'interrupted' AND i.status = 'running'") != [(0,)]

        with once(has_imports, interrupt):
            code, result = served.run("import", folder, "--case", "interrupted")
        locking.exec_driver_sql("UNLOCK TABLES")
    rows = result["imports"][0]
    assert (code, result["error"]) == (128 + signal.SIGTERM, "the command was interrupted")
    assert rows["error"].startswith("the command was interrupted; the import was cancelled")
    assert "DATA/VOL001.dat: the import was cancelled" in served.errors
    assert "DATA/VOL001.opt: the import" in served.errors
    assert list_unfinished(served.workspace.database_url or "", 1) == []
    code, result = served.run("import", folder, "--case", "interrupted")
    assert (code, result["imports"][0]["rejected"]) == (3, 0)
    assert len(list_documents(served, "interrupted")) == len(VOLUME.documents)
    assert [status for status, _ in served.list_volumes("interrupted")] == ["ready"]


def test_files_that_the_storage_has_lost_are_sent_anew(served: Served, tmp_path: Path) -> None:
    folder, s3, bucket = VOLUME.write(tmp_path), served.stack.s3, served.stack.bucket
    _, checked = served.run("check", folder, "--case", "lost")
    [(prefix,)] = served.query("SELECT prefix FROM volumes WHERE id = :id", id=checked["volume"]["id"])
    for each in s3.list_object_versions(Bucket=bucket, Prefix=prefix)["Versions"]:
        s3.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])
    code, result = served.run("import", folder, "--case", "lost")
    assert (code, result["error"].partition(".")[0]) == (1, "The storage has lost the files")
    assert served.run("import", folder, "--case", "lost")[0] == 3
    assert len(list_documents(served, "lost")) == len(VOLUME.documents)


def test_a_stack_elsewhere_imports_a_folder_by_its_url(served: Served, tmp_path: Path) -> None:
    token = served.stack.tokens.issue("elsewhere", "ada", 600, name="Ada")
    around = Surroundings(tmp_path / "configuration", {"EXHIBIT_INGEST_TOKEN": token})
    place = ("--stack", served.stack.api_url)
    folder = VOLUME.write(tmp_path)
    code, result = served.run("import", folder, "--case", "elsewhere", *place, around=around)
    assert (code, result["error"], result["found"]["documents"]) == (3, None, len(VOLUME.documents))
    [row] = served.query("SELECT tenant_id, user_id FROM volumes v WHERE id = :id", id=result["volume"]["id"])
    assert row == ("elsewhere", "ada")
    assert all(Path(path).is_relative_to(tmp_path) for path in result["imports"][0]["reports"].values() if path)
