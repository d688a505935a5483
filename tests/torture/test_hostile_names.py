"""Keys that climb, and cells that calculate: an upload is where its key says and nowhere else, and a report is text."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

import start_import
from core.imports.uploads import build_options_key
from shell.aws import clients
from tests.support.application.driver import World, call
from tests.support.imports.error_file_reference import LINE_COLUMN, line_cell
from tests.torture.mutations.hostile_values import FORMULAS, table
from tests.torture.mutations.limits import bounded

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


def objects(world: World) -> set[tuple[str, str]]:
    """The keys and versions of all objects there are; another test's import may have had the same id."""
    pages = clients.s3().get_paginator("list_object_versions").paginate(Bucket=world.bucket)
    return {(each["Key"], each["VersionId"]) for page in pages for each in page.get("Versions", [])}


@pytest.mark.slow
def test_an_upload_is_of_the_tenant_and_case_of_its_key_and_writes_its_reports_alone(world: World) -> None:
    columns = "i.id, i.tenant_id, c.tenant_id, c.name, i.file_name, i.object_key, i.imported + i.unchanged, i.rejected"
    keys = ["/".join(("imports", *place)) for place in PLACES]
    for key in keys:
        clients.s3().put_object(Bucket=world.bucket, Key=key, Body=GOOD)
    before = objects(world)
    for key in keys:
        assert call(start_import.lambda_handler, world.notification_of(key))
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    rows = world.query(f"SELECT {columns} FROM imports i JOIN cases c ON c.id = i.case_id ORDER BY i.id")
    expected = [(tenant, tenant, case, name) for tenant, case, _, name in PLACES]
    assert [tuple(row[1:]) for row in rows] == [(*row, key, 2, 1) for row, key in zip(expected, keys, strict=True)]
    assert all(world.report(row.id) for row in rows)
    written = {key.rpartition("/")[0] for key, _ in objects(world) - before}
    assert written == {f"reports/{row.id}/1" for row in rows}


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


def as_text(value: Any) -> str:
    """What a spreadsheet is to be given for a value: the same, with an apostrophe where it would calculate."""
    text = value.decode() if isinstance(value, bytes) else "" if value is None else str(value)
    return "'" + text if text.startswith(EVALUATED) else text


def test_no_cell_of_a_report_is_calculated_and_each_can_be_had_back(world: World) -> None:
    """The apostrophe is all that is added; the rejected rows have the text of the file."""
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
        assert [as_text(value) for value in held] == line[: len(held)]
        assert not [cell for cell in line if cell.startswith(EVALUATED)]
    calculating = {cell for _, line in pairs for cell in line if cell.startswith("'")}
    assert {formula[0] for formula in FORMULAS} <= {cell[1] for cell in calculating}
    assert json.loads(files["options.json"])["columns"] == {"Control Number": "control_number", **given} | {
        "Document Date": "document_date"
    }
    lines = [line_cell(1 + table([names, *rows, *again[:at]]).count(b"\n")) for at in range(len(again))]
    numbered = [[*row, line] for row, line in zip(again, lines, strict=True)]
    assert files["rejected_rows.dat"] == b"\xef\xbb\xbf" + table([[*names, LINE_COLUMN], *numbered])
