"""`exhibit-ingest import` and `check` of folders and zips, beside a `serve` that all tests of this module share."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from sqlalchemy import URL, Engine, create_engine, text

from exhibit_ingest.cli import upload_and_wait, volume_import
from exhibit_ingest.cli.import_status import list_unfinished
from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.volumes import sending
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from local.time_scale import TimeScale
from samples.volume import VolumeSpec, generate_volume
from tests.support.servers.provisioned_servers import schema_beside

VOLUME = generate_volume(VolumeSpec(families=4))
_DOCUMENTS = """
    SELECT e.control_number, e.parent_control_number, e.version,
      (SELECT GROUP_CONCAT(x.kind, ' ', f.path, ' ', x.rule ORDER BY x.kind) FROM exhibit_files x
        JOIN volume_files f ON f.id = x.file_id WHERE x.exhibit_id = e.id) AS files,
      (SELECT GROUP_CONCAT(p.page_no, ' ', p.image_key, ' ', COALESCE(f.path, p.path) ORDER BY p.page_no)
        FROM pages p LEFT JOIN volume_files f ON f.id = p.file_id WHERE p.page_set_id = e.page_set_id) AS pages
    FROM exhibits e JOIN cases c ON c.id = e.case_id WHERE c.name = :name ORDER BY e.control_number
"""
Document = dict[str, Any]


@dataclass
class Served:
    """A running `serve`, and commands beside it."""

    stack: LocalStack
    workspace: Workspace
    engine: Engine
    capsys: pytest.CaptureFixture[str]
    errors: str = ""

    def run(self, *arguments: str | Path) -> tuple[int, Document]:
        """The exit code of a command and its JSON object."""
        code = main([*map(str, arguments), "--json"], self.workspace)
        printed = self.capsys.readouterr()
        self.errors = printed.err
        return code, json.loads(printed.out) if printed.out else {}

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def documents(self, case: str) -> list[tuple[Any, ...]]:
        """The documents of a case with their files and pages."""
        return self.query(_DOCUMENTS, name=case)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[tuple[LocalStack, Workspace]]:
    with schema_beside(schema_url, "volumes") as url:
        workspace = Workspace(tmp_path_factory.mktemp("state"), database_url=url.render_as_string(hide_password=False))
        scale = TimeScale(0.05, shortest_timeout=float("inf"))
        options = StackOptions(
            workers=1, time_scale=scale, database_url=workspace.database_url, template=DEFAULT_TEMPLATE
        )
        with LocalStack(workspace.state_dir, options) as stack, publish_stack(stack, os.getpid()):
            yield stack, workspace


@pytest.fixture
def served(running: tuple[LocalStack, Workspace], capsys: pytest.CaptureFixture[str]) -> Iterator[Served]:
    stack, workspace = running
    engine = create_engine(workspace.database_url or "")
    yield Served(stack, workspace, engine, capsys)
    engine.dispose()


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


@pytest.mark.slow
def test_a_folder_is_checked_then_imported_and_its_zip_gives_the_same(served: Served, tmp_path: Path) -> None:
    folder, documents, pages = VOLUME.write(tmp_path), len(VOLUME.documents), VOLUME.pages
    code, checked = served.run("check", folder, "--case", "folder")
    found = {each["code"]: each["count"] for check in checked["checks"] for each in check["findings"]}
    missing = {"NATIVE_MISSING": 1, "TEXT_MISSING": 1, "IMAGE_MISSING": 2}
    assert (code, found) == (3, {**missing, "OPT_DOC_NOT_FOUND": 1, "PAGES_MISSING": 1})
    assert served.documents("folder") == []
    code, imported = served.run("import", folder, "--case", "folder")
    assert code == 3
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
    documents_of_zip = [tuple(str(cell).replace("VOL001/", "") for cell in row) for row in served.documents("zip")]
    assert documents_of_zip == [tuple(map(str, row)) for row in served.documents("folder")]
    assert [row[0] for row in served.documents("zip")] == [each.numbers[0] for each in VOLUME.documents]
    assert served.documents("folder")[2][3:] == (
        "native NATIVES/DEMO0000004.txt 4,text TEXT/DEMO0000004.txt 4",
        ",".join(f"{page} DEMO000000{n} IMAGES/DEMO000000{n}.tif" for page, n in ((1, 4), (2, 6))),
    )


@pytest.mark.slow
def test_images_of_another_volume_give_no_page_to_any_document(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    (folder / "DATA/VOL001.opt").unlink()
    assert served.run("import", folder, "--case", "other")[0] == 0
    before = served.documents("other")
    other = generate_volume(VolumeSpec("VOL002", prefix="OTHER", families=3, has_faults=False))
    images = other.write(tmp_path)
    (images / "DATA/VOL002.dat").unlink()
    code, result = served.run("import", images, "--case", "other", "--image-load-file", "DATA/VOL002.opt")
    [rejected] = result["imports"]
    assert (code, rejected["rejected_by_code"]) == (3, {"OPT_DOC_NOT_FOUND": len(other.documents)})
    assert (rejected["imported"], result["pages"]["rejected"], result["pages"]["imported"]) == (0, other.pages, 0)
    assert served.documents("other") == before


def test_images_are_not_imported_if_their_data_file_is_not(served: Served, tmp_path: Path) -> None:
    folder = VOLUME.write(tmp_path)
    (folder / "DATA/VOL001.dat").write_bytes(b"Title,Author\r\nOne,Ada\r\n")
    code, result = served.run("import", folder, "--case", "blocked")
    rows, images = result["imports"]
    assert (code, rows["status"], images["status"]) == (1, "failed", "failed")
    assert "NO_ID_COLUMN" in rows["error"]
    assert images["error"] == "it was not imported, because the data file of its volume was not"


def record_sent(monkeypatch: pytest.MonkeyPatch, after: Callable[[int], None] = lambda count: None) -> list[str]:
    """The files that are sent from now on; `after` is called with their number once one is sent."""
    sent: list[str] = []
    send_file = sending.send_file

    def recorded(pool: Any, file: Path, upload: Document) -> None:
        send_file(pool, file, upload)
        sent.append(file.name)
        after(len(sent))

    monkeypatch.setattr(sending, "AT_ONCE", 1)
    monkeypatch.setattr(sending, "send_file", recorded)
    return sent


def interrupt_after(files: int) -> Callable[[int], None]:
    def interrupt(count: int) -> None:
        if count == files:
            # Ctrl-C is ignored where a shell has started the tests in the background.
            os.kill(os.getpid(), signal.SIGTERM)

    return interrupt


def test_an_upload_that_was_interrupted_goes_on_where_it_ended(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = VOLUME.write(tmp_path)
    names = sorted(file.name for file in folder.rglob("*.*"))
    count_volumes = "SELECT v.status, v.files FROM volumes v JOIN cases c ON c.id = v.case_id WHERE c.name = 'again'"
    with monkeypatch.context() as patch:
        before = record_sent(patch, interrupt_after(5))
        assert served.run("import", folder, "--case", "again") == (128 + signal.SIGTERM, {})
    assert 5 <= len(before) < len(names)
    assert f"of {len(names)} files, " in served.errors
    assert "Run the same command again to send the rest." in served.errors
    assert served.query(count_volumes) == [("open", 0)]
    after = record_sent(monkeypatch)
    assert served.run("import", folder, "--case", "again")[0] == 3
    assert sorted([*before, *after]) == names
    assert served.query(count_volumes) == [("ready", len(names))]


@pytest.mark.parametrize("where", ["folder", pytest.param("bucket", marks=pytest.mark.slow)])
def test_files_that_were_sent_are_compared_by_their_bytes_not_by_size_and_time(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folder = VOLUME.write(tmp_path)
    with monkeypatch.context() as patch:
        sent = record_sent(patch, interrupt_after(5))
        assert served.run("import", folder, "--case", where)[0] == 128 + signal.SIGTERM
    file = next(folder.rglob(sent[0]))
    before, data, path = file.stat(), file.read_bytes(), file.relative_to(folder).as_posix()
    changed = data[:-1] + b"?"
    if where == "folder":
        data = changed
        file.write_bytes(data)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        [(prefix,)] = served.query("SELECT prefix FROM volumes ORDER BY id DESC LIMIT 1")
        served.stack.s3.put_object(Bucket=served.stack.bucket, Key=prefix + path, Body=changed)
    _, result = served.run("import", folder, "--case", where)
    [(prefix,)] = served.query("SELECT prefix FROM volumes WHERE id = :id", id=result["volume"]["id"])
    key = prefix + path
    stored = served.stack.s3.get_object(Bucket=served.stack.bucket, Key=key)["Body"].read()
    assert (result["error"], stored) == (None, data)


def test_s3_on_this_machine_refuses_other_bytes_than_those_of_the_checksum(served: Served) -> None:
    place = {"Bucket": served.stack.bucket, "Key": "checked"}
    digest = base64.b64encode(hashlib.sha256(b"these").digest()).decode()
    s3: Any = served.stack.s3
    with pytest.raises(ClientError, match="BadDigest"):
        s3.put_object(**place, Body=b"those", ChecksumSHA256=digest)
    s3.put_object(**place, Body=b"these", ChecksumSHA256=digest)
    assert s3.head_object(**place, ChecksumMode="ENABLED")["ChecksumSHA256"] == digest


@pytest.mark.slow
def test_a_folder_that_was_changed_after_an_interruption_is_another_volume(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = VOLUME.write(tmp_path)
    with monkeypatch.context() as patch:
        record_sent(patch, interrupt_after(5))
        assert served.run("import", folder, "--case", "changed")[0] == 128 + signal.SIGTERM
    (folder / "TEXT/DEMO0000001.txt").write_bytes(b"another text")
    (folder / "NATIVES/unnamed.txt").unlink()
    code, result = served.run("import", folder, "--case", "changed")
    assert (code, result["error"], result["files"]["unreferenced"]) == (3, None, 0)
    statement = "SELECT v.status FROM volumes v JOIN cases c ON c.id = v.case_id WHERE c.name = 'changed' ORDER BY v.id"
    assert served.query(statement) == [("open",), ("ready",)]


@pytest.mark.slow
def test_an_interruption_leaves_no_import_running_and_none_in_the_journal(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait: Callable[..., Any] = upload_and_wait.wait_for_import

    def interrupted(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return wait(*arguments)

    monkeypatch.setattr(volume_import, "wait_for_import", interrupted)
    assert served.run("import", VOLUME.write(tmp_path), "--case", "interrupted") == (128 + signal.SIGTERM, {})
    assert "DATA/VOL001.dat: the import" in served.errors
    assert "DATA/VOL001.opt: the import" in served.errors
    assert list((served.workspace.state_dir / "running").iterdir()) == []
    assert list_unfinished(served.workspace.database_url or "", 1) == []
