"""Keys that climb, and cells that calculate: an upload is where its key says and nowhere else, and a report is text."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

import import_chunk
import start_import
from core.imports.uploads import build_options_key
from shell.aws import clients
from tests.support.world import World, call
from tests.torture.hostile_values import FORMULAS, table
from tests.torture.mutated_bounds import bounded

GOOD = b"Control Number,Title\nA-1,one\nA-2,two\n,none\n"
EVALUATED = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
# Tenant, case, upload id and file.
PLACES = (
    *(("t", "...", "u1", "f.dat"), ("t", "c", "u2", "../../../../etc/passwd"), ("t", "c", "u14", "./a/../b.dat")),
    *(("t", "%2e%2e%2f", "u3", "%00.dat"), ("t", "c", "u4", "a//b///c.dat"), ("t", "c", "u5", "..\\..\\x.dat")),
    *(("t", "'; DROP TABLE imports; --", "u6", "$(reboot) `x` | y.dat"), ("t", "c", "u7", "a.\u202etad\u202c")),
    *(
        ("t", "Ｃ😀ase", "u8", "😀.d😀t"),
        ("😀", "__proto__", "constructor", "toString"),
        ("t", "c+d e", "u9", "+ %2B.dat"),
    ),
    *(("t", "c", "options", "imports/t/c/u/f.dat"), ("t", "c", "u10", "x" * (1_024 - len("imports/t/c/u10/")))),
    *(("t", "é", "u11", "e\u0301.dat"), ("t", "c", "u12", ".dat"), ("t", "c", "u13", "f." + "d" * 300)),
)
NO_PLACES = (
    *("imports/t/c//f.dat", "imports//c/u/f.dat", "imports/t/c/u", "imports/../f.dat", "/imports/t/c/u/f.dat"),
    *("imports/t/c%00/u/f.dat", "imports/t/c/u/f%00.dat", "imports/t/%C2%85c/u/f.dat", "imports/t/c/u/f%0A.dat"),
    *("imports/t/../u/f.dat", "imports/../../../f.dat", "imports/t/c/../f.dat", "imports/./c/u/f.dat"),
    *("imports/t/c/%20/f.dat", "IMPORTS/t/c/u/f.dat", "imports%2Ft%2Fc", f"imports/{'t' * 65}/c/u/f.dat"),
    f"imports/t/{'c' * 256}/u/f.dat",
)


def objects(world: World) -> set[str]:
    """The keys of all objects there are."""
    pages = clients.s3().get_paginator("list_objects_v2").paginate(Bucket=world.bucket)
    return {each["Key"] for page in pages for each in page.get("Contents", [])}


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "/".join(place)[:40].encode("unicode_escape").decode())
def test_an_upload_is_of_the_tenant_and_case_of_its_key_and_writes_its_reports_alone(
    world: World, place: tuple[str, str, str, str]
) -> None:
    key = "/".join(("imports", *place))
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=GOOD)
    before = objects(world)
    assert call(start_import.lambda_handler, world.notification_of(key))
    for message in world.chunk_messages():
        assert call(import_chunk.lambda_handler, message)
    columns = "i.id, i.tenant_id, c.tenant_id, c.name, i.file_name, i.object_key, i.imported, i.rejected"
    rows = world.query(f"SELECT {columns} FROM imports i JOIN cases c ON c.id = i.case_id")
    assert [tuple(row[1:]) for row in rows] == [(place[0], place[0], place[1], place[3], key, 2, 1)]
    assert world.report(rows[0][0])
    assert {each.rpartition("/")[0] for each in objects(world) - before} == {f"reports/{rows[0][0]}/1"}


@pytest.mark.parametrize("key", NO_PLACES)
def test_a_key_that_names_no_upload_starts_nothing_and_is_told(world: World, key: str) -> None:
    notification = world.upload(GOOD)
    notification["Records"][0]["s3"]["object"]["key"] = key
    before = objects(world)
    assert call(start_import.lambda_handler, notification)
    assert objects(world) == before
    assert world.query("SELECT COUNT(*) FROM imports")[0][0] == 0
    assert world.query("SELECT event_type FROM outbox_events") == [("upload.refused",)]


def test_options_of_a_hostile_kind_fail_the_file_and_say_so(world: World) -> None:
    bombs = {
        "deep": b"[" * 200_000,
        "a number of many digits": b'{"header": ' + b"9" * 200_000 + b"}",
        "not text": b"\xff\xfe\x00",
        "a megabyte": b'{"user_id": "' + b"x" * 2_000_000 + b'"}',
        "a prototype": b'{"__proto__": {"header": false}}',
        "half a character": b'{"user_id": "\\ud800"}',
    }
    for bomb in bombs.values():
        notification = world.upload(GOOD)
        key = build_options_key(notification["Records"][0]["s3"]["object"]["key"])
        clients.s3().put_object(Bucket=world.bucket, Key=key, Body=bomb)
        with bounded(10):
            assert call(start_import.lambda_handler, notification)
    ended = world.query("SELECT status, failure_code FROM imports ORDER BY id")
    assert dict(zip(bombs, map(tuple, ended), strict=True)) == dict.fromkeys(bombs, ("failed", "BAD_OPTIONS"))


def report_of(world: World, files: dict[str, bytes], name: str, statement: str) -> list[tuple[list[Any], list[str]]]:
    """What the database holds of each line of a report, and the line itself."""
    lines = list(csv.reader(io.StringIO(files[name].decode("utf-8-sig"), newline="")))[1:]
    rows = world.query(statement)
    assert len(lines) == len(rows) >= len(FORMULAS)
    return [([*row], line) for row, line in zip(rows, lines, strict=True)]


def shown(value: Any) -> str:
    """What a spreadsheet is to be given for a value: the same, with an apostrophe where it would calculate."""
    text = value.decode() if isinstance(value, bytes) else "" if value is None else str(value)
    return "'" + text if text.startswith(EVALUATED) else text


def test_no_cell_of_a_report_is_calculated_and_each_can_be_had_back(world: World) -> None:
    """The apostrophe is all that is added; the rejected rows have the bytes of the file."""
    names = ["Control Number", "=1+1", "@x", "Document Date"]
    rows = [[f"{formula}{number}", "", "", formula] for number, formula in enumerate(FORMULAS)]
    again = [[row[0], "x" * 300, "x" * 300, ""] for row in rows]
    given = {"=1+1": "bates_begin", "@x": "parent_control_number"}
    import_id = world.run(table([names, *rows, *again]), columns=given)
    files = world.report(import_id)
    rejections = "SELECT line_no, column_name, code, message, control_number, row_count FROM import_rejections "
    warnings = "SELECT line_no, column_name, code, message, control_number, original FROM import_warnings "
    pairs = report_of(world, files, "report.csv", rejections + "ORDER BY line_no, seq")
    pairs += report_of(world, files, "warnings.csv", warnings + "ORDER BY line_no, seq")
    for held, line in pairs:
        assert [shown(value) for value in held] == line[: len(held)]
        assert not [cell for cell in line if cell.startswith(EVALUATED)]
    calculating = {cell for _, line in pairs for cell in line if cell.startswith("'")}
    assert {formula[0] for formula in FORMULAS} <= {cell[1] for cell in calculating}
    assert json.loads(files["options.json"])["columns"] == {"Control Number": "control_number", **given} | {
        "Document Date": "document_date"
    }
    assert files["rejected_rows.dat"] == table([names, *again])
