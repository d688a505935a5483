"""What the uploader gets back: the rejected rows as they came, the reasons, the warnings; and what is announced."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import pytest

from core.time_zones import get_database_version
from samples.dialects import COMMA, CONCORDANCE, TAB, Dialect
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import events
from tests.support.application.driver import World
from tests.support.imports.accounting import assert_accounted
from tests.support.imports.error_file_reference import Form, error_file_of
from tests.support.imports.row_outcomes import accounts

REJECTING = (
    *(FaultKind.MISSING_ID, FaultKind.DUPLICATE_ID, FaultKind.FEWER_CELLS, FaultKind.UNCLOSED_QUOTE),
    *(FaultKind.BAD_BYTE, FaultKind.LONG_ID),
)
WARNING = (FaultKind.INVALID_DATE, FaultKind.LONG_TITLE, FaultKind.NAME_CASE)
FORMULA = "=HYPERLINK(1)"


def table(report: bytes) -> list[dict[str, str]]:
    """A report file as a spreadsheet reads it."""
    assert report.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(report.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize(
    ("dialect", "encoding"),
    [(CONCORDANCE, "cp1252"), (COMMA, "utf-8-sig"), (TAB, "utf-16-le")],
    ids=["concordance", "comma", "tab"],
)
def test_the_rejected_rows_are_the_text_of_the_source_in_utf_8(
    world: World, chunk_rows: Chunks, dialect: Dialect, encoding: str
) -> None:
    chunk_rows(6)
    faults = tuple(Fault(kind) for kind in REJECTING)
    made = generate(Spec(rows=30, dialect=dialect, encoding=encoding, faults=faults, embedded_newlines=True))
    import_id = world.run(made.data, name="files.of.tenant.csv", shuffle=3)
    places = [(r.first_line, r.byte_start, r.byte_len) for r in made.truth.rejected]
    expected = error_file_of(made.data, made.truth.header_len, encoding, Form.of(made), places)
    assert world.report(import_id)["rejected_rows.csv"] == expected


def test_the_rejected_rows_can_be_corrected_and_are_then_read_as_the_whole_file_was(world: World) -> None:
    """By itself the date would be of May, and the accent could be of any encoding."""
    rows = ["A-1,é one,21/5/2001", "A-2,é two,5/6/2001,x", ",three,", 'A-4,"unclosed,', "A-5,five,", "A-1,six,"]
    data = "Ref,Title,Doc Date\r\n" + "".join(f"{row}\r\n" for row in rows)
    first = world.run(data.encode("cp1252"), columns={"Ref": "control_number"})
    assert accounts(world, first).counts["rejected"] == 4
    report = world.report(first)
    # Whatever editor saves it, with a byte order mark or without.
    corrected = (
        report["rejected_rows.dat"]
        .removeprefix(b"\xef\xbb\xbf")
        .replace(b",x,L3\r", b",L3\r")
        .replace(b"\r\n,three", b"\r\nA-3,three")
    )
    corrected = corrected.replace(b'"unclosed', b'"closed"').replace(b"A-1,six", b"A-6,six")
    again = world.run(corrected, **json.loads(report["options.json"]))
    assert accounts(world, again).counts["imported"] == 4
    assert len(world.dump(again)["exhibits"]) == 6
    (row,) = world.query("SELECT title, document_date FROM exhibits WHERE control_number = 'A-2'")
    assert (row[0], row[1].isoformat()) == ("é two", "2001-06-05T00:00:00")


def test_the_report_lists_every_reason_in_the_order_of_the_lines_and_is_the_same_again(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(4)
    made = generate(Spec(rows=25, faults=tuple(Fault(kind) for kind in (*REJECTING, *WARNING))))
    import_id = world.run(made.data, shuffle=1)
    files = world.report(import_id)
    got = accounts(world, import_id)
    listed = table(files["report.csv"])
    assert [
        (int(row["line"]), row["code"], row["column"] or None, row["message"], int(row["rows"])) for row in listed
    ] == [(each.line, each.code, each.column, each.message, each.row_count) for each in got.rejected]
    assert [row["line"] for row in listed] == [str(record.first_line) for record in made.truth.rejected]
    warned = table(files["warnings.csv"])
    assert [(int(row["line"]), row["code"], row["column"] or None) for row in warned] == list(got.warned)
    date = next(row for row in warned if row["code"] == "INVALID_DATE")
    assert date["original"] in made.truth.at_line(int(date["line"])).cells
    title = next(row for row in warned if row["code"] == "VALUE_TRUNCATED")
    assert title["original"] == ""
    assert int(title["original_bytes"]) > int(title["stored_bytes"])
    assert world.query("SELECT generation, reports_generation FROM imports") == [(1, 1)]
    world.query("UPDATE imports SET reports_generation = 0")
    assert world.report(import_id) == files
    assert world.query("SELECT reports_generation FROM imports") == [(1,)]


def test_a_report_says_how_every_column_was_read(world: World) -> None:
    import_id = world.run(
        b"DOCID,Date Sent,Sort Date,=Author,Ref,Time Sent\nA-1,2020-01-02,,Li,7,\n",
        columns={"Ref": "title"},
        time_zone="America/New_York",
    )
    dates = ("MDY", "America/New_York", get_database_version(), "Time Sent", "", "")
    nothing = ("",) * 6
    assert [tuple(row.values()) for row in table(world.report(import_id)["columns.csv"])] == [
        ("1", "DOCID", "control_number", "synonym", "", *nothing),
        ("2", "Date Sent", "date_sent", "synonym", "", *dates),
        ("3", "Sort Date", "property", "property", "date", *nothing),
        ("4", "'=Author", "property", "property", "person", *nothing),
        ("5", "Ref", "title", "given", "", *nothing),
        ("6", "Time Sent", "time_sent", "synonym", "", *nothing),
    ]


def test_a_cp1252_file_with_a_line_in_utf_8_says_so(world: World) -> None:
    rows = [b"A-1,Gr\xfcn", "A-2,Grün".encode(), b"A-3,\xe9"]
    import_id = world.run(b"DOCID,Custodian\n" + b"".join(row + b"\n" for row in rows))
    (warned,) = world.query("SELECT line_no, code, message FROM import_warnings WHERE import_id = :id", id=import_id)
    assert (warned.line_no, warned.code) == (0, "MIXED_ENCODING")
    assert "line 3" in warned.message


SAVED = {
    "as written": ("utf-8-sig", "Grün", None),
    "CSV UTF-8 of a spreadsheet": ("utf-8-sig", "Grün 日本", None),
    "CSV of a spreadsheet": ("cp1252", "Grün € “x”", "cp1252"),
    "Unicode text": ("utf-16", "Grün 日本", "UTF-16"),
    "without its mark": ("utf-8", "Grün 日本", "read as UTF-8"),
    "without its mark, text that is UTF-8 of cp1252": ("cp1252", "GrÃ¼n", "read as UTF-8"),
    "ASCII": ("ascii", "Gruen", "in ASCII alone"),
    "CSV of a Western spreadsheet, text in Cyrillic": ("cp1252", "Договор", "have ?"),
    "Japanese e-mail encoding, which is ASCII and escapes": ("iso-2022-jp", "日本", "in ASCII alone"),
}


@pytest.mark.parametrize("saved", SAVED)
def test_rejected_rows_that_a_spreadsheet_saved_are_read_in_their_encoding_or_get_a_warning(
    world: World, saved: str
) -> None:
    """Where two encodings fit, the value may be another one, but never without a warning."""
    encoding, name, warning = SAVED[saved]
    report = world.report(world.run(f"DOCID,Title\nA-1,{name}\n,{name}\n".encode()))
    corrected = report["rejected_rows.dat"].decode("utf-8-sig").replace("\n,", "\nB-2,")
    again = world.run(corrected.encode(encoding, "replace"), **json.loads(report["options.json"]))
    [row] = world.query("SELECT title FROM exhibits WHERE control_number = 'B-2'")
    warned = world.query("SELECT line_no, code, message FROM import_warnings WHERE import_id = :i", i=again)
    assert [(each.line_no, each.code) for each in warned] == ([(0, "ERROR_FILE_ENCODING")] if warning else [])
    assert warning is None or warning in warned[0].message
    as_read = name.encode(encoding, "replace").decode("utf-8", "replace")
    assert row.title == (name if warning in (None, "cp1252", "UTF-16") else as_read)


def test_an_encoding_that_is_given_for_rejected_rows_is_not_replaced(world: World) -> None:
    report = world.report(world.run("DOCID,Title\n,Grün\n,Grün\n".encode()))
    options = json.loads(report["options.json"])
    rows = report["rejected_rows.dat"].decode("utf-8-sig").replace("\n,", "\nB-2,", 1).replace("\n,", "\nB-3,")
    given = world.run(rows.encode("cp1252"), **options, encoding="utf-8")
    assert [each.code for each in world.query("SELECT code FROM import_rejections WHERE import_id = :i", i=given)] == [
        "UNDECODABLE_BYTES",
        "UNDECODABLE_BYTES",
    ]
    assert world.query("SELECT code FROM import_warnings WHERE import_id = :i", i=given) == []


def test_rejected_rows_that_are_loaded_without_a_correction_say_what_was_lost(world: World) -> None:
    first = world.run(b"DOCID,Custodian\nA-1,Gr\xc3\xbcn\nA-2,Gr\xfcn\n", encoding="utf-8")
    report = world.report(first)
    assert b"0xFC" in report["report.csv"]
    assert "A-2,Gr\ufffdn".encode() in report["rejected_rows.dat"]
    world.run(report["rejected_rows.dat"], **json.loads(report["options.json"]))
    assert world.query("SELECT line_no, column_name, code FROM import_warnings") == [
        (2, "Custodian", "REPLACEMENT_CHARACTER")
    ]


def test_every_kind_of_change_is_announced_once_a_chunk_with_counts_and_no_content(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(10)
    faults = [Fault(FaultKind.EMOJI_TITLE, row) for row in (1, 2, 3, 12)]
    faults += [Fault(FaultKind.INVALID_DATE, row) for row in (2, 25)] + [Fault(FaultKind.LONG_ID, 4)]
    made = generate(Spec(rows=30, faults=tuple(faults)))
    import_id = world.run(made.data, times=2, shuffle=4)
    kinds = [row[0] for row in world.query("SELECT event_type FROM outbox_events ORDER BY id")]
    assert Counter(kinds) == {"WARNING": 4, "import.started": 1, "import.completed": 1}
    assert (kinds[0], kinds[-1]) == ("import.started", "import.completed")
    assert (world.publish(), world.publish()) == (len(kinds), 0)
    warned = events(world, "WARNING")
    warnings = {(each["chunkNo"], each["code"]): (each["count"], each["firstLine"]) for each in warned}
    line = {row: made.truth.records[row].first_line for row in range(30)}
    assert warnings == {
        (1, "CHARACTERS_REMOVED"): (3, line[1]),
        (1, "INVALID_DATE"): (1, line[2]),
        (2, "CHARACTERS_REMOVED"): (1, line[12]),
        (3, "INVALID_DATE"): (1, line[25]),
    }
    (completed,) = events(world, "import.completed")
    assert (completed["importId"], completed["status"]) == (import_id, "completed_with_rejections")
    assert completed["counts"] == {"imported": 29, "unchanged": 0, "updated": 0, "rejected": 1, "warnings": 6}
    assert {each["tenantId"] for each in [*warned, completed]} == {"tenant"}
    printed = json.dumps([*warned, completed, *events(world, "import.started")])
    cells = {cell for record in made.truth.records for cell in record.cells if len(cell) > 6}
    assert not [cell for cell in cells if json.dumps(cell)[1:-1] in printed]
    assert_accounted(world, import_id, made.truth)
