"""A file that cannot be imported fails with its reason before a row is written; what is no upload starts nothing."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

import start_import
from samples.generator import generate
from samples.spec import Spec
from shell.aws import clients
from tests.integration.imports.conftest import Chunks, Setting
from tests.support.application.driver import Message, World, call
from tests.support.imports.accounting import assert_accounted, turned_down

GOOD = b"Control Number,Title,Custodian\r\nA-1,one,Smith\r\nA-2,two,Jones\r\n"


class Bad(NamedTuple):
    """A file, the code that it fails with, and words that its message must have."""

    name: str
    data: bytes
    code: str
    words: tuple[str, ...]
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


# What the first bytes, the header and the options are refused for is tested without a database.
FILES = [
    Bad("nothing", b"", "EMPTY_FILE", ("empty",)),
    Bad("a workbook", b"PK\x03\x04" + bytes(500), "UNSUPPORTED_FORMAT", ("XLSX", "CSV")),
    Bad("no id", b"Title,Author\r\none,two\r\n", "NO_ID_COLUMN", ("Title, Author", "control_number", "header")),
    Bad("blank lines alone", b"Control Number,Title\r\n\r\n\r\n", "NO_ROWS", ("4 bytes", "header")),
    Bad("no header", b"A-1,one\r\nA-2,two\r\n", "NO_ID_COLUMN", ("number",), {"header": False}),
    Bad("an unknown column", GOOD, "BAD_OPTIONS", ("'Author'",), {"columns": {"Author": "title"}}),
    Bad("an unknown encoding", GOOD, "BAD_OPTIONS", ("'ebcdic'", "utf-8"), {"encoding": "ebcdic"}),
]


def failure(world: World, data: bytes, **options: Any) -> tuple[str, str]:
    """Start the import of a file that must fail, twice; returns the code and the message that were recorded."""
    return failure_of(world, world.upload(data, **options))


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


def test_a_file_whose_options_can_have_no_key_is_read_without_any(world: World) -> None:
    folder = f"imports/tenant/Case/{'u' * (1_024 - len('imports/tenant/Case//x'))}"
    clients.s3().put_object(Bucket=world.bucket, Key=f"{folder}/x", Body=GOOD)
    assert call(start_import.lambda_handler, world.notification_of(f"{folder}/x"))
    assert world.query("SELECT status, failure_code FROM imports") == [("running", None)]


def test_a_file_over_the_limit(world: World, setting: Setting) -> None:
    setting("MAX_FILE_BYTES", "60")
    code, message = failure(world, GOOD)
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


def test_concatenated_files_are_read_and_warned_of(world: World) -> None:
    import_id = world.start(GOOD + b"\xef\xbb\xbfsep=,\r\n" + GOOD.replace(b"Title", b"TITLE").replace(b"A-", b"B-"))
    assert all(world.import_chunk(message) for message in world.chunk_messages())
    assert world.query("SELECT status, rows_seen, imported FROM imports") == [("completed", 4, 4)]
    assert world.query("SELECT line_no, code FROM import_warnings ORDER BY seq") == [
        (0, "REPEATED_HEADER"),
        (0, "BYTE_ORDER_MARK"),
    ]
    assert b"line 4, line 5. These" in world.report(import_id)["warnings.csv"]


def test_a_source_that_is_overwritten_is_read_as_it_was(world: World) -> None:
    notification = world.upload(GOOD)
    key = notification["Records"][0]["s3"]["object"]["key"]
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"something else")
    assert call(start_import.lambda_handler, notification)
    assert all(world.import_chunk(message) for message in world.chunk_messages())
    assert world.query("SELECT status, imported FROM imports") == [("completed", 2)]


def test_a_source_that_is_deleted_after_it_was_split_loses_its_chunks_and_ends(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(5)
    made = generate(Spec(rows=10))
    notification = world.upload(made.data)
    assert call(start_import.lambda_handler, notification)
    first, second = world.chunk_messages()
    assert world.import_chunk(first)
    stored = notification["Records"][0]["s3"]["object"]
    clients.s3().delete_object(Bucket=world.bucket, Key=stored["key"], VersionId=stored["versionId"])
    assert not world.import_chunk(second)
    world.give_up(second)
    lines = {record.first_line for record in made.truth.records[5:]}
    assert_accounted(world, first["import_id"], turned_down(made.truth, lines, "CHUNK_FAILED"))
    assert {"report.csv", "warnings.csv"} <= set(world.report(first["import_id"]))
    assert world.query("SELECT reports_generation FROM imports") == [(1,)]


@pytest.mark.parametrize(
    ("key", "reason", "tenant"),
    [
        (
            f"imports/{'t' * 65}/case/upload/file.dat",
            "tenant in the object's key has 65 characters; the limit is 64",
            "",
        ),
        (f"imports/acme/{'c' * 256}/upload/file.dat", "case in the object's key has 256 characters", "acme"),
        ("imports/file.dat", "not imported", ""),
    ],
    ids=["tenant", "case", "parts"],
)
def test_a_refused_key_is_reported_and_does_not_keep_the_uploads_beside_it(
    world: World, key: str, reason: str, tenant: str
) -> None:
    refused, good = world.upload(GOOD), world.upload(GOOD)
    refused["Records"][0]["s3"]["object"]["key"] = key.replace("/", "%2F")
    assert call(start_import.lambda_handler, {"Records": [*refused["Records"], *good["Records"]]})
    assert world.query("SELECT status FROM imports") == [("running",)]
    events = world.query("SELECT aggregate_id, payload FROM outbox_events WHERE event_type = 'upload.refused'")
    [(aggregate, payload)] = events
    assert aggregate == key[:64]
    assert reason in json.loads(payload)["reason"]
    assert json.loads(payload)["tenantId"] == tenant
