"""A preview says how the import reads a file, from its first bytes, and names what the rest of the file can change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import pytest
from hypothesis import given

from core.errors import FileRefusedError
from core.imports.findings import Certainty
from core.imports.preview import CELL_CHARACTERS, LISTED_COLUMNS, SHOWN_ROWS, Preview, build_preview
from core.load_file.dialect import HEAD_BYTES, read_head
from core.load_file.layout import Layout
from core.load_file.options import parse_options
from core.load_file.rows import Row, parse_row
from samples.generator import Generated
from shell.aws.s3 import BLOCK_BYTES
from shell.imports.rows.coercion import RowCoercer
from shell.imports.rows.preview_rows import make_converter
from tests.support.imports.declared_limits import declared_limits
from tests.unit.core.file_reading import clear_files, read_file

CSV = "Control Number,Title,Custodian,Date Sent,Body\r\n"
ROWS = "".join(f"A-{n},Plan {n % 2},Ada;Grace,0{n % 9 + 1}/02/2019,\r\n" for n in range(1, 31))


def preview(data: bytes | str, options: dict[str, Any] | None = None, size: int | None = None) -> Preview:
    """The preview of a file that begins with the data and has so many bytes."""
    raw = data.encode() if isinstance(data, str) else data
    return build_preview(raw, size or len(raw), parse_options(options or {}), make_converter(declared_limits))


def certainties(found: Preview) -> dict[str, tuple[Any, str]]:
    """Value and certainty of every finding."""
    findings = {each.name: getattr(found.detection, each.name) for each in fields(found.detection)}
    assert all(finding.why for finding in findings.values())
    return {name: (finding.value, str(finding.certainty)) for name, finding in findings.items()}


@given(clear_files())
def test_a_preview_of_a_whole_file_says_what_the_import_decides(generated: Generated) -> None:
    reading = read_file(generated.data, generated.options)
    found = preview(generated.data, generated.options)
    layout = reading.layout
    assert not found.provisional
    assert found.may_change == []
    grammar = layout.grammar
    assert found.detection.encoding.value == layout.encoding
    assert (found.detection.delimiter.value, found.detection.qualifier.value) == (grammar.delimiter, grammar.qualifier)
    assert (found.detection.newline.value, found.detection.header.value) == (layout.newline, layout.has_header)
    assert found.detection.date_order.value in (layout.date_order, None)
    assert [column.field for column in found.columns] == list(layout.fields)
    assert found.rows_read == reading.splitter.rows_seen
    assert [row.line for row in found.rows] == [each.line_no for each in reading.records[:SHOWN_ROWS]]
    for row, record in zip(found.rows, reading.records, strict=False):
        assert row.codes == codes_of_the_import(layout, parse_row(record, layout))
    json.dumps(asdict(found)).encode()


def codes_of_the_import(layout: Layout, row: Row) -> list[str]:
    """The codes of a row's rejections, else of its warnings, as a chunk would find them."""
    names = {table: declared_limits(table) for table in ("custodians", "tags")}
    stored = RowCoercer(layout, 1, 1, declared_limits("exhibits"), names).coerce(row)
    return [str(each.code) for each in stored.errors or stored.changes]


def test_the_first_bytes_are_those_from_which_the_import_decides() -> None:
    assert HEAD_BYTES == BLOCK_BYTES
    blocks = [b"x" * HEAD_BYTES, b"x" * HEAD_BYTES, b"a\nb", b"never read"]
    assert len(read_head(iter(blocks), 10**10)) == 2 * HEAD_BYTES
    assert read_head(iter([b"a\nb", b"never read"]), 10**10) == b"a\nb"


def test_columns_have_samples_stored_values_and_counts() -> None:
    columns = {column.name: column for column in preview(CSV + ROWS).columns}
    assert (columns["Control Number"].field, columns["Control Number"].distinct) == ("control_number", 30)
    title = columns["Title"]
    assert (title.blank, title.distinct, [each.text for each in title.samples]) == (0, 2, ["Plan 1", "Plan 0"])
    assert [each.value for each in columns["Custodian"].samples] == [["Ada", "Grace"]]
    dates = columns["Date Sent"].samples
    assert (len(dates), dates[0].text, dates[0].value) == (3, "02/02/2019", "2019-02-02 00:00:00")
    body = columns["Body"]
    assert (body.field, str(body.why), body.blank, body.distinct, body.samples) == (None, "property", 30, 0, [])


def test_a_sample_says_why_it_is_not_stored_as_it_is() -> None:
    long = "x" * 2_000
    data = f"{CSV}A-1,{long},,31/31/2019,\r\n,no id,,,\r\nA-3,three\r\nA-4,four,,,\r\n"
    found = preview(data)
    assert [row.codes for row in found.rows] == [
        ["INVALID_DATE", "VALUE_TRUNCATED"],
        ["MISSING_ID"],
        ["WRONG_CELL_COUNT"],
        [],
    ]
    columns = {column.name: column for column in found.columns}
    long_title, rejected, _ = columns["Title"].samples
    assert (long_title.code, len(long_title.text), long_title.text[-1]) == ("VALUE_TRUNCATED", CELL_CHARACTERS, "…")
    assert (rejected.text, rejected.value) == ("no id", None)
    assert [(each.value, each.code) for each in columns["Date Sent"].samples] == [(None, "INVALID_DATE")]
    assert (found.rows_read, found.rows_counted) == (4, 3)


CERTAIN, LIKELY, GUESS, GIVEN = map(str, (Certainty.CERTAIN, Certainty.LIKELY, Certainty.GUESS, Certainty.GIVEN))
DAT = "þControl Numberþ\x14þTitleþ\r\nþA-1þ\x14þMüllerþ\r\n"


def test_a_text_that_is_no_property_is_shown_as_it_is_stored() -> None:
    text = "line one\u00ae" + "x" * 70_000
    data = f"\u00feControl Number\u00fe\x14\u00feOCR1\u00fe\r\n\u00feA-1\u00fe\x14\u00fe{text}\u00fe\r\n"
    [_, column] = preview(data).columns
    assert column.field == "extracted_text"
    [sample] = column.samples
    assert (str(sample.value)[:12], sample.code) == ("line one\nxxx", None)


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b"\xef\xbb\xbf" + DAT.encode(), {}, {"encoding": ("utf-8", CERTAIN), "newline": ("®", LIKELY)}),
        (DAT.encode("cp1252"), {}, {"encoding": ("cp1252", CERTAIN), "delimiter": ("\x14", CERTAIN)}),
        (DAT.encode("utf-16"), {}, {"encoding": ("utf-16-le", CERTAIN), "qualifier": ("þ", CERTAIN)}),
        (b"sep=;\r\nDocID;Title\r\nA-1;x\r\n", {}, {"delimiter": (";", CERTAIN), "encoding": ("utf-8", CERTAIN)}),
        (b"DocID|Title\r\nA-1|x\r\n", {}, {"delimiter": ("|", LIKELY), "qualifier": (None, LIKELY)}),
        (b"DocID\r\nA-1\r\n", {}, {"delimiter": (",", GUESS), "header": (True, LIKELY), "date_order": (None, CERTAIN)}),
        ("DocID,T\r\nA-1,Müller\r\n".encode(), {}, {"encoding": ("utf-8", CERTAIN)}),
        ("DocID,T\r\nA-1,Müller\r\n".encode("cp1252"), {}, {"encoding": ("cp1252", LIKELY)}),
        ("DocID,T\r\nA-1,ü\r\n".encode() + b"A-2,\xfc\xfc\r\n", {}, {"encoding": ("cp1252", GUESS)}),
        (b"DocID,Date\r\nA-1,13/01/2019\r\n", {}, {"date_order": ("DMY", CERTAIN)}),
        (b"DocID,Date\r\nA-1,01/13/2019\r\n", {}, {"date_order": ("MDY", CERTAIN)}),
        (b"DocID,Date\r\nA-1,01/02/2019\r\n", {}, {"date_order": ("MDY", GUESS)}),
        (b"DocID,Date\r\nA-1,01/13/2019\r\nA-2,13/01/2019\r\n", {}, {"date_order": ("MDY", GUESS)}),
        (
            b"A-1,01/02/2019\r\n",
            {
                "encoding": "cp1252",
                "delimiter": ",",
                "qualifier": "none",
                "newline": "^",
                "date_order": "DMY",
                "header": False,
                "columns": {"1": "control_number"},
            },
            {
                "encoding": ("cp1252", GIVEN),
                "delimiter": (",", GIVEN),
                "qualifier": (None, GIVEN),
                "newline": ("^", GIVEN),
                "header": (False, GIVEN),
                "date_order": ("DMY", GIVEN),
            },
        ),
    ],
)
def test_every_finding_says_how_sure_it_is(data: bytes, options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected.items() <= certainties(preview(data, options)).items()


LATER: list[tuple[str, str, bytes, bytes]] = [
    ("encoding", "utf-8", b"DocID,Title\r\nA-1,x\r\n", b"A-2,\xfc\r\n"),
    ("date_order", "MDY", b"\xef\xbb\xbfDocID,Date\r\nA-1,01/02/2019\r\n", b"A-2,13/02/2019\r\n"),
    ("date_order", "DMY", b"\xef\xbb\xbfDocID,Date\r\nA-1,13/02/2019\r\n", b"A-2,02/13/2019\r\n"),
]


@pytest.mark.parametrize(("name", "value", "head", "rest"), LATER)
def test_what_the_rest_of_the_file_can_change_is_named(name: str, value: str, head: bytes, rest: bytes) -> None:
    first, whole = preview(head, size=len(head + rest)), preview(head + rest)
    assert (first.provisional, first.bytes_read, first.size) == (True, len(head), len(head + rest))
    assert first.may_change == [name]
    assert certainties(first)[name][0] == value
    assert certainties(whole)[name][0] != value


def test_what_the_first_bytes_decide_is_not_said_to_change() -> None:
    data = b"\xef\xbb\xbfDocID,Date\r\nA-1,01/13/2019\r\n"
    assert preview(data, size=10**10).may_change == []
    assert certainties(preview(data, size=10**10))["date_order"] == ("MDY", CERTAIN)


def test_a_record_that_the_first_bytes_cut_is_not_shown() -> None:
    found = preview('DocID,Title\r\nA-1,x\r\nA-2,"a cell of', size=10**9)
    assert ([row.line for row in found.rows], found.rows_read) == ([2], 1)
    assert preview("DocID,Title\r\nA-1,x\r\nA-2,y").rows_read == 2


@pytest.mark.parametrize(
    ("data", "options", "code"),
    [
        (b"", {}, "EMPTY_FILE"),
        (b"Foo,Bar\r\n1,2\r\n", {}, "NO_ID_COLUMN"),
        (b"%PDF-1.7\r\n", {}, "UNSUPPORTED_FORMAT"),
        (b'DocID,"Title\r\nA-1,x\r\n', {}, "NOT_DELIMITED"),
        (b"DocID,Title\r\nA-1,x\r\n", {"columns": {"Nope": "title"}}, "BAD_OPTIONS"),
        ("DocID,T\r\nA-1,ü\r\n".encode(), {"encoding": "cp1252"}, "BAD_OPTIONS"),
        (
            b"DocID,Title\r\nA-1,x\r\n",
            {"profile": {"name": "acme", "version": 3, "columns": {"Nope": "title", "Title": "title", "9": "tags"}}},
            "PROFILE_MISMATCH",
        ),
    ],
)
def test_a_file_that_cannot_be_imported_has_the_code_of_the_import(
    data: bytes, options: dict[str, Any], code: str
) -> None:
    def refusal(read: Callable[[bytes, dict[str, Any]], object]) -> tuple[str, str]:
        with pytest.raises(FileRefusedError) as refused:
            read(data, options)
        return str(refused.value.code), str(refused.value)

    assert refusal(preview) == refusal(read_file)
    assert refusal(preview)[0] == code


def test_a_prefix_in_which_cp1252_looks_like_utf8_is_not_refused() -> None:
    data = "DocID,T\r\nA-1,ü\r\n".encode()
    assert preview(data, {"encoding": "cp1252"}, size=10**9).detection.encoding.value == "cp1252"


def test_wide_files_are_cut_and_say_so() -> None:
    names = ["DocID", *(f"Field {n}" for n in range(1, 1_000))]
    found = preview(",".join(names) + "\r\n" + ",".join(["A-1", *["x" * 500] * 999]) + "\r\n")
    assert (found.column_count, len(found.columns), len(found.rows[0].cells or [])) == (1_000, *[LISTED_COLUMNS] * 2)


def test_bytes_that_cannot_be_decoded_are_shown_as_the_replacement_character() -> None:
    data = "DocID,Title\r\nA-1,Müller\r\nA-2,Grüße\r\n".encode() + b"A-3,\xff\r\n"
    found = preview(data)
    assert (found.rows[2].cells, found.rows[2].codes) == (["A-3", "�"], ["UNDECODABLE_BYTES"])


def test_a_header_has_a_fingerprint_of_its_names_and_its_delimiter() -> None:
    same = {preview(head + "A-1,x\r\n").header_fingerprint for head in ("DocID,Title\r\n", "doc_id,TITLE\r\n")}
    others = {preview(head + "A-1;x\r\n").header_fingerprint for head in ("DocID;Title\r\n", "Title;DocID\r\n")}
    assert len(same) == 1
    assert len(same | others) == 3
    bare = preview("A-1,x\r\n", {"header": False, "columns": {"1": "control_number"}})
    assert bare.header_fingerprint is None


@pytest.mark.parametrize(("columns", "shown", "counted"), [(2_500, 20, 100), (9_999, 5, 25)])
def test_of_a_wide_file_fewer_rows_are_shown_and_counted(columns: int, shown: int, counted: int) -> None:
    header = ",".join(["Control Number", *(f"Column of {number}" for number in range(1, columns))])
    rows = [",".join([f"A-{number}", *[""] * (columns - 1)]) for number in range(110)]
    found = preview("\r\n".join([header, *rows, ""]))
    assert (found.rows_read, len(found.rows), found.rows_counted) == (110, shown, counted)
    assert (found.columns[0].distinct, found.columns[1].blank) == (counted, counted)
