"""A file that cannot be imported fails with its reason before a row is written; what is no upload starts nothing."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

import import_chunk
import start_import
from core.imports.uploads import build_options_key
from samples.generator import generate
from samples.spec import Spec
from shell.aws import clients
from shell.settings import settings
from tests.integration.imports.conftest import Chunks
from tests.support.checks import assert_accounted, turned_down
from tests.support.world import Message, World, call

GOOD = b"Control Number,Title,Custodian\r\nA-1,one,Smith\r\nA-2,two,Jones\r\n"


class Bad(NamedTuple):
    """A file, the code that it fails with, and words that its message must have."""

    name: str
    data: bytes
    code: str
    words: tuple[str, ...]
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


FILES = [
    Bad("empty", b"", "EMPTY_FILE", ("empty",)),
    Bad("blank lines alone", b"\r\n  \r\n\r\n", "EMPTY_FILE", ("empty",)),
    Bad("LFP", b"IM,A-1,D,0,@VOL1;IMG\\0001;A-1.tif;2\r\n" * 3, "UNSUPPORTED_FORMAT", ("LFP", "DAT")),
    Bad("DII", b"; comment\r\n@T A-1\r\n@D @I\\IMG\\\r\nA-1.tif\r\n", "UNSUPPORTED_FORMAT", ("DII", "CSV")),
    Bad("EDRM XML", b'\xef\xbb\xbf<?xml version="1.0"?>\n<Root><Batch/></Root>', "UNSUPPORTED_FORMAT", ("EDRM", "DAT")),
    Bad("XLSX", b"PK\x03\x04" + bytes(500), "UNSUPPORTED_FORMAT", ("XLSX", "CSV")),
    Bad("OPT", b"A-1,VOL1,.\\IMG\\A-1.tif,Y,,,2\r\n" * 3, "UNSUPPORTED_FORMAT", ("OPT", "DAT")),
    Bad("JSON", b'[{"Control Number": "A-1"}]', "UNSUPPORTED_FORMAT", ("JSON", "DAT")),
    Bad("PDF", b"%PDF-1.7\n1 0 obj\n", "UNSUPPORTED_FORMAT", ("PDF",)),
    Bad("binary", bytes(range(256)) * 40, "BINARY_FILE", ("binary", "DAT")),
    Bad("UTF-16 without its mark", GOOD.decode().encode("utf-16-le"), "UNSUPPORTED_ENCODING", ("byte order mark",)),
    Bad("old Macintosh line ends", GOOD.replace(b"\r\n", b"\r"), "UNSUPPORTED_LINE_ENDS", ("CRLF",)),
    Bad("no id", b"Title,Author\r\none,two\r\n", "NO_ID_COLUMN", ("Title, Author", "control_number", "header")),
    Bad("no header", b"A-1,one\r\nA-2,two\r\n", "NO_ID_COLUMN", ("number",), {"header": False}),
    Bad("damaged header", b'"Control Number,Title\r\nA-1,one\r\n', "NOT_DELIMITED", ("first line",)),
    Bad("unknown field", GOOD, "BAD_OPTIONS", ("'Title'", "file_name"), {"columns": {"Title": "heading"}}),
    Bad("unknown column", GOOD, "BAD_OPTIONS", ("'Author'",), {"columns": {"Author": "title"}}),
    Bad("unknown encoding", GOOD, "BAD_OPTIONS", ("'ebcdic'", "utf-8"), {"encoding": "ebcdic"}),
    Bad("unknown option", GOOD, "BAD_OPTIONS", ("'colums'", "columns"), {"colums": {}}),
    Bad("long delimiter", GOOD, "BAD_OPTIONS", ("delimiter", "comma"), {"delimiter": "||"}),
    Bad("impossible order", GOOD, "BAD_OPTIONS", ("date_order", "DMY"), {"date_order": "YDM"}),
]


def failure(world: World, data: bytes, **options: Any) -> tuple[str, str]:
    """Start the import of a file that must fail, twice; returns the code and the message that were recorded."""
    notification = world.upload(data, **options)
    return failure_of(world, notification)


def failure_of(world: World, notification: Message) -> tuple[str, str]:
    """The same for an upload that is there."""
    for _ in range(2):
        assert call(start_import.lambda_handler, notification)
    assert world.chunk_messages() == []
    rows = world.query("SELECT status, failure_code, failure_message, finished_at FROM imports")
    assert len(rows) == 1
    status, code, message, finished = rows[0]
    assert status == "failed"
    assert finished is not None
    for table in ("exhibits", "custodians", "tags", "import_chunks", "import_rejections"):
        assert world.query(f"SELECT COUNT(*) FROM {table}")[0][0] == 0
    events = world.query("SELECT event_type, payload FROM outbox_events")
    assert [(kind, json.loads(payload)["code"]) for kind, payload in events] == [("import.failed", code)]
    return code, message


@pytest.mark.parametrize("bad", FILES, ids=lambda bad: bad.name)
def test_a_file_that_cannot_be_imported_says_why(world: World, bad: Bad) -> None:
    code, message = failure(world, bad.data, **bad.options)
    assert code == bad.code
    assert all(word in message for word in bad.words), message


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_alone_is_an_empty_file(world: World, mark: bytes) -> None:
    assert failure(world, mark)[0] == "EMPTY_FILE"


def test_options_that_are_not_json(world: World) -> None:
    notification = world.upload(GOOD)
    key = build_options_key(notification["Records"][0]["s3"]["object"]["key"])
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"{'header': false}")
    code, message = failure_of(world, notification)
    assert (code, key in message) == ("BAD_OPTIONS", True)


def test_a_file_whose_options_can_have_no_key_is_read_without_any(world: World) -> None:
    folder = f"imports/tenant/Case/{'u' * (1_024 - len('imports/tenant/Case//x'))}"
    clients.s3().put_object(Bucket=world.bucket, Key=f"{folder}/x", Body=GOOD)
    assert call(start_import.lambda_handler, world.notification_of(f"{folder}/x"))
    assert world.query("SELECT status, failure_code FROM imports") == [("running", None)]


def test_a_file_over_the_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_FILE_BYTES", "60")
    settings.cache_clear()
    try:
        code, message = failure(world, GOOD)
    finally:
        monkeypatch.undo()
        settings.cache_clear()
    assert code == "FILE_TOO_LARGE"
    assert "60" in message
    assert str(len(GOOD)) in message


def test_a_header_without_rows_is_an_import_of_nothing(world: World) -> None:
    import_id = world.start(GOOD.partition(b"\n")[0])
    assert world.chunk_messages() == []
    assert world.query("SELECT status, rows_seen, warnings FROM imports") == [("completed", 0, 1)]
    assert world.query("SELECT line_no, code FROM import_warnings") == [(0, "NO_ROWS")]
    kinds = [row[0] for row in world.query("SELECT event_type FROM outbox_events ORDER BY id")]
    assert kinds == ["import.started", "import.completed"]
    assert {"rejected_rows.dat", "report.csv", "warnings.csv"} <= set(world.report(import_id))


def test_a_source_that_is_deleted_before_it_is_split(world: World) -> None:
    notification = world.upload(GOOD)
    stored = notification["Records"][0]["s3"]["object"]
    clients.s3().delete_object(Bucket=world.bucket, Key=stored["key"], VersionId=stored["versionId"])
    code, message = failure_of(world, notification)
    assert code == "SOURCE_GONE"
    assert "version" in message


def test_a_source_that_is_overwritten_is_read_as_it_was(world: World) -> None:
    notification = world.upload(GOOD)
    key = notification["Records"][0]["s3"]["object"]["key"]
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"something else")
    assert call(start_import.lambda_handler, notification)
    assert all(call(import_chunk.lambda_handler, message) for message in world.chunk_messages())
    assert world.query("SELECT status, imported FROM imports") == [("completed", 2)]


def test_a_source_that_is_deleted_after_it_was_split_loses_its_chunks_and_ends(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(5)
    made = generate(Spec(rows=10))
    notification = world.upload(made.data)
    assert call(start_import.lambda_handler, notification)
    first, second = world.chunk_messages()
    assert call(import_chunk.lambda_handler, first)
    stored = notification["Records"][0]["s3"]["object"]
    clients.s3().delete_object(Bucket=world.bucket, Key=stored["key"], VersionId=stored["versionId"])
    assert not call(import_chunk.lambda_handler, second)
    world.give_up(second)
    lines = {record.first_line for record in made.truth.records[5:]}
    assert_accounted(world, first["import_id"], turned_down(made.truth, lines, "CHUNK_FAILED"))
    assert {"report.csv", "warnings.csv"} <= set(world.report(first["import_id"]))
    assert world.query("SELECT reports_generation FROM imports") == [(1,)]


@pytest.mark.parametrize(
    "key",
    [
        "imports/tenant/case/file.dat",
        "imports/tenant//upload/file.dat",
        "imports/tenant/+case/upload/file.dat",
        "imports/tenant/case/upload/bad%0Aname.dat",
        f"imports/{'t' * 65}/case/upload/file.dat",
        f"imports/tenant/{'c' * 256}/upload/file.dat",
    ],
)
def test_a_key_of_another_form_is_refused_and_told(world: World, key: str) -> None:
    notification = world.upload(GOOD)
    notification["Records"][0]["s3"]["object"]["key"] = key
    assert call(start_import.lambda_handler, notification)
    assert world.query("SELECT COUNT(*) FROM imports")[0][0] == 0
    assert world.query("SELECT event_type, aggregate_id FROM outbox_events") == [("upload.refused", key[:64])]


def test_a_refused_key_does_not_keep_the_uploads_beside_it(world: World) -> None:
    refused, good = world.upload(GOOD), world.upload(GOOD)
    refused["Records"][0]["s3"]["object"]["key"] = "imports/nothing"
    assert call(start_import.lambda_handler, {"Records": [*refused["Records"], *good["Records"]]})
    assert world.query("SELECT COUNT(*) FROM imports")[0][0] == 1


def test_what_is_no_file_starts_nothing(world: World) -> None:
    folder = world.upload(b"")
    folder["Records"][0]["s3"]["object"]["key"] = "imports/tenant/case/upload/"
    removed = world.upload(GOOD)
    removed["Records"][0]["eventName"] = "ObjectRemoved:Delete"
    test_event = {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": world.bucket}
    for notification in (folder, removed, test_event):
        assert call(start_import.lambda_handler, notification)
    assert world.query("SELECT COUNT(*) FROM imports")[0][0] == 0
    assert world.query("SELECT COUNT(*) FROM outbox_events")[0][0] == 0


def test_a_key_with_spaces_and_accents_is_found(world: World) -> None:
    """S3 encodes a key in its notifications as a form does."""
    notification = world.upload(GOOD, case="Müller v. Hall", name="part 1+2.dat")
    stored = notification["Records"][0]["s3"]["object"]
    stored["key"] = stored["key"].replace("+", "%2B").replace(" ", "+").replace("ü", "%C3%BC")
    assert call(start_import.lambda_handler, notification)
    assert all(call(import_chunk.lambda_handler, message) for message in world.chunk_messages())
    assert world.query("SELECT i.imported, c.name, i.file_name FROM imports i JOIN cases c ON c.id = i.case_id") == [
        (2, "Müller v. Hall", "part 1+2.dat")
    ]
