"""What the first lines of a file say about delimiter, qualifier and columns, also where they mislead."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import FileRefusedError
from core.load_file.file_signatures import MAX_NAME_CHARACTERS
from core.load_file.options import MAX_COLUMNS
from tests.unit.core.file_reading import Reading, every, read_file

DC4, THORN = "\x14", "þ"


def dialect_of(text: str, options: dict[str, Any] | None = None) -> tuple[str, str | None]:
    grammar = read_file(text.encode(), options).layout.grammar
    return grammar.delimiter, grammar.qualifier


DETECTED = {
    "concordance": (f"þDOCIDþ{DC4}þTitleþ\nþ1þ{DC4}þaþ\n", DC4, THORN),
    "concordance whose cells are bare": (f"DOCID{DC4}Title\n1{DC4}a\n", DC4, THORN),
    "a concordance file of one column": ("þDOCIDþ\nþ1þ\n", DC4, THORN),
    "semicolon and thorn": ("þDOCIDþ;þTitleþ\nþ1þ;þaþ\n", ";", THORN),
    "comma": ("DOCID,Title\n1,a\n", ",", '"'),
    "comma, all quoted": ('"DOCID","Title"\n"1","a"\n', ",", '"'),
    "tab": ("DOCID\tTitle\n1\ta\n", "\t", '"'),
    "commas inside a tab file": ('DOCID\tCustodian\n1\t"Smith, A"\n2\tDoe, B\n3\tRay, C, D\n', "\t", '"'),
    "commas inside the header of a tab file": ("DOCID\tName, first\tTitle\n1\tx, y\tz\n", "\t", '"'),
    "pipe": ("DOCID|Title\n1|a\n", "|", None),
    "pipe with a quotation mark in the text": ('DOCID|Title\n1|5" pipe\n2|"x\n', "|", None),
    "pipe and quote": ('"DOCID"|"Title"\n"1"|"a"\n', "|", '"'),
    "pipe and quote around one cell": ('DOCID|Title\n1|"a|b"\n', "|", '"'),
    "pipe and an empty cell in quotes": ('DOCID|Title|Note\n1|""|b\n2|"|"\n3|a|"b"\n', "|", None),
    "pipe and doubled quotes": ('DOCID|Title\n1|"a ""b"""\n2|c\n3|d\n', "|", '"'),
    "pipe and line ends in quotes": ('DOCID|Title|N\n1|x|\n2|"b\nc|d"|\n3|"e"|\n4|f|\n5|g|\n6|h|\n', "|", '"'),
    "pipe and a line end in one quoted cell": ('DOCID|Title\n1|x\n2|"b\nc"\n3|d\n', "|", '"'),
    "pipe and quoted text like rows beside quoted pipes": (
        'DOCID|Title|N\n1|"b|c\nd|e"|x\n2|"f|g"|"h|i"\n',
        "|",
        '"',
    ),
    "pipe and rows between two ditto marks": ('DOCID|Title\n1|a\n2|"\n3|b\n4|"\n5|c\n', "|", None),
    "pipe and rows between a cut title and inches": ('DOCID|Title\n1|"a, b an\n2|c\n3|5"\n4|d\n', "|", None),
    "pipe, rows between marks and an empty cell": ('DOCID|Title|N\n1|"|a\n2|""|"\n3|"|""\n4|b|c\n', "|", None),
    "pipe, two headers and rows between marks": (
        'DOCID|Title|N\n1|"|a\n2|b|c\nDocid|Title|N|\n3|d|e\n4|"|f\n',
        "|",
        None,
    ),
    "pipe and rows from a mark to the end of the sample": ('DOCID|Title\n1|a\n2|"\n' + "3|b\n" * 60, "|", None),
    "pipe and inches beside an empty cell in quotes": ('DOCID|Title|Note\n1|5" pipe|""\n2|a|b\n', "|", None),
    "pipe and a cut cell of doubled quotes": ('DOCID|Title\n1|a\n2|b\n3|"' + 'a""' * 20_000 + "\n", "|", None),
    "pipe and caret": ("^DOCID^|^Title^\n^1^|^a^\n", "|", "^"),
    "a cell in carets among quoted ones": ('"DOCID","Title"\n"1","a ""b"", c"\n"2",^d^\n', ",", '"'),
    "a cell in carets among bare ones": ("DOCID,Title\n1,^a^\n2,b\n3,c\n", ",", '"'),
    "a header name in carets": ("DOCID,^Note^\n1,a\n", ",", '"'),
    "carets in most rows of a bare header": ("DOCID|Title\n1|^a|b^\n2|^c^\n", "|", "^"),
    "a name with a thorn": ("DOCID,Title\nþorn,a\n2,b\n3,c\n", ",", '"'),
    "semicolon": ("DOCID;Title\n1;Smith, A\n2;Doe, B\n", ";", '"'),
    "a list of semicolons in a comma file": ("DOCID,Tags\n1,a;b;c\n2,a;b\n3,x\n", ",", '"'),
    "a header only": ("DOCID|Title|Date", "|", None),
    "one column": ("DOCID\n1\n2\n", ",", '"'),
    "one column that holds semicolons further down": ("DOCID\n1;2\n3;4\n", ",", '"'),
    "delimiters in quoted cells": ('"DOCID","Title","Note"\n"1","x|y|z|w",""\n"2","a|b|c|d",""\n', ",", '"'),
    "a bare CR in a row": ("DOCID,Title\n1,a\rb\n", ",", '"'),
    "a bare CR in a pipe file": ("DOCID|Title\n1|a\rb\n", "|", None),
    "blank lines first": ("\n\nDOCID|Title\n1|a\n", "|", None),
}


@pytest.mark.parametrize("name", DETECTED)
def test_dialects_are_detected_from_the_content(name: str) -> None:
    text, delimiter, qualifier = DETECTED[name]
    for newline in ("\n", "\r\n"):
        assert dialect_of(text.replace("\n", newline)) == (delimiter, qualifier)
        assert dialect_of("\ufeff" + text.replace("\n", newline)) == (delimiter, qualifier)
    grammar = read_file(("\ufeff" + text).encode("utf-16-le")).layout.grammar
    assert (grammar.delimiter, grammar.qualifier) == (delimiter, qualifier)


def test_what_was_given_wins_over_what_is_seen() -> None:
    text = "DOCID,Title|x\n1,a|b\n"
    assert dialect_of(text, {"delimiter": ","}) == (",", '"')
    assert dialect_of(text, {"delimiter": "comma", "qualifier": "none"}) == (",", None)
    assert dialect_of("DOCID,Title\n1,a\n", {"qualifier": "^"}) == (",", "^")


def test_the_registered_sign_is_a_line_end_in_thorn_files_alone() -> None:
    assert read_file(DETECTED["concordance"][0].encode()).layout.newline == "®"
    assert read_file(DETECTED["comma"][0].encode()).layout.newline is None
    assert read_file(DETECTED["comma"][0].encode(), {"newline": "®"}).layout.newline == "®"
    assert read_file(DETECTED["concordance"][0].encode(), {"newline": "none"}).layout.newline is None


def test_a_registered_sign_between_cells_is_no_line_end() -> None:
    reading = opened("þDOCIDþ®þTitleþ\nþ1þ®þa\nbþ\n")
    assert (reading.layout.grammar.delimiter, reading.layout.newline, reading.cells) == ("®", None, [["1", "a\nb"]])


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
def test_the_line_in_which_excel_names_the_delimiter_is_not_the_header(first: str) -> None:
    for text in (f"{first}\nDOCID;Title\n1;a,b\n", f"\ufeff{first}\r\nDOCID;Title\r\n1;a,b"):
        reading = opened(text)
        assert (reading.layout.names, reading.layout.grammar.delimiter) == (("DOCID", "Title"), ";")
        assert [(record.line_no, record.cells) for record in reading.records] == [(3, ["1", "a,b"])]
    assert opened("sep=;\nDOCID|Title\n", {"delimiter": "|"}).layout.names == ("DOCID", "Title")
    for mark in ("", "\ufeff"):
        bare = opened(f"{mark}{first}\n1;a,b\n2;c\n", {"header": False, "columns": {"1": "control_number"}})
        assert [(each.line_no, each.cells) for each in bare.records] == [(2, ["1", "a,b"]), (3, ["2", "c"])]


def opened(text: str, options: dict[str, Any] | None = None) -> Reading:
    return read_file(text.encode(), options)


SPARE = {
    "DOCID,Title,\n1,a,\n2,b\n3,c,d\n4,,\n": [True, True, False, True],
    "DOCID,Title,Note,\n1,only a note,\n2,a,b,\n": [False, True],
    "DOCID,Title\n1,a,\n": [False],
}


@pytest.mark.parametrize("text", SPARE)
def test_a_trailing_delimiter_of_the_header_makes_no_column_and_rows_may_have_it(text: str) -> None:
    reading = opened(text)
    assert reading.layout.names == ("DOCID", "Title", "Note")[: 2 + ("Note" in text)]
    assert [reading.layout.grammar.has_expected_cells(cells or []) for cells in reading.cells] == SPARE[text]


def test_a_header_with_a_line_end_in_a_name_is_one_record() -> None:
    reading = opened('"Control\nNumber",Title\n1,a\n')
    assert reading.layout.names == ("Control\nNumber", "Title")
    assert [(record.line_no, record.cells) for record in reading.records] == [(3, ["1", "a"])]


def test_columns_without_a_header_are_numbered_and_the_first_row_is_read_however_long() -> None:
    text = f'1,"a\n{"x" * 5000}",b\n2,c,d\n'
    reading = opened(text, {"header": False, "columns": {"1": "control_number", "3": "title"}})
    assert reading.cells == [["1", f"a\n{'x' * 5000}", "b"], ["2", "c", "d"]]
    assert reading.layout.names == ("Column 1", "Column 2", "Column 3")
    assert reading.layout.fields == ("control_number", None, "title")
    assert (reading.layout.body_start, reading.layout.body_line, reading.splitter.rows_seen) == (0, 1, 2)


@pytest.mark.parametrize("first", ["1,a,b", '1,"a'])
def test_without_a_header_the_number_of_cells_may_be_given(first: str) -> None:
    options = {"header": False, "columns": {"1": "control_number"}, "cells": 2}
    reading = opened(f"\n{first}\n2,c\n", options)
    assert (reading.layout.grammar.cells, reading.layout.names) == (2, ("Column 1", "Column 2"))
    assert [(each.line_no, each.cells) for each in reading.records][1:] == [(3, ["2", "c"])]


UNCLOSED = "Close or double the qualifier"
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("DOCID,Title\n", {"delimiter": '"', "qualifier": '"'}, "BAD_OPTIONS", "'qualifier'"),
    ("DOCID,Title\n", {"newline": ","}, "BAD_OPTIONS", "'newline'"),
    ('DOCID,"Title\n1,a\n', {}, "NOT_DELIMITED", UNCLOSED),
    ('DOCID,"Title\n1,a\n2,b",c\n', {}, "NOT_DELIMITED", UNCLOSED),
    ('"DOCID","Ti"tle"\n1,a\n', {}, "NOT_DELIMITED", UNCLOSED),
    (f"DOCID,Title{'x' * (MAX_NAME_CHARACTERS - 4)}\n1,a\n", {}, "NOT_DELIMITED", "header"),
    (f"DOCID{',x' * MAX_COLUMNS}\n", {}, "TOO_MANY_COLUMNS", str(MAX_COLUMNS)),
    ("Titel,Datum\na,b\n", {}, "NO_ID_COLUMN", "Titel, Datum"),
    ("Titel,Datum\na,b\n", {}, "NO_ID_COLUMN", "header"),
]


@pytest.mark.parametrize(("text", "options", "code", "advice"), REFUSED, ids=lambda value: ascii(value)[:40])
def test_a_first_line_or_an_option_that_cannot_be_is_refused_with_what_to_do(
    text: str, options: dict[str, Any], code: str, advice: str
) -> None:
    with pytest.raises(FileRefusedError) as caught:
        read_file(text.encode(), options)
    assert caught.value.code == code
    assert advice in str(caught.value)


def test_as_many_columns_and_characters_of_a_name_as_may_be_are_taken() -> None:
    columns = ",".join(f"x{number}" for number in range(MAX_COLUMNS - 1))
    assert len(opened(f"DOCID,{columns}\n").layout.names) == MAX_COLUMNS
    name = "x" * MAX_NAME_CHARACTERS
    assert opened(f"DOCID,{name}\n").layout.names == ("DOCID", name)


ROWS = [["1", "a"], ["2", 'b, "c"\nd\re\r\nf']]
CR = 'DOCID,Title\r1,a\r2,"b, ""c""\nd\re\r\nf"'


@pytest.mark.parametrize("end", ["", "\r", "\n", "\r\n", "\r\r\n"], ids=repr)
def test_lines_that_end_in_cr_alone_are_read_whatever_ends_the_last_one(end: str) -> None:
    for encoding in ("utf-8", "utf-16-le"):
        data = ("\ufeff" + CR + end).encode(encoding)
        reading = read_file(data, cuts=every(1, data))
        assert reading.cells == ROWS
        assert [record.line_no for record in reading.records] == [2, 3]


@pytest.mark.parametrize("text", ["DOCID,Title\r1,a\n2,b\n", "DOCID\r1\n2\n", "DOCID,Title\r1,a\r2,b\nc\r"], ids=repr)
def test_lines_that_end_in_cr_and_in_lf_are_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(FileRefusedError, match="CRLF or LF") as caught:
        read_file(text.encode())
    assert caught.value.code == "UNSUPPORTED_LINE_ENDS"


def test_a_cr_in_a_header_whose_rows_end_in_lf_is_data() -> None:
    assert opened("DOCID,Ti\rtle\n1,a\n2,b\n").layout.names == ("DOCID", "Ti\rtle")
    assert opened("DOCID,Ti\rtle\n1\n", {"line_ends": "lf"}).layout.names == ("DOCID", "Ti\rtle")


def test_the_line_ends_may_be_given() -> None:
    reading = opened("DOCID,Title\r1\n2,b\r\n3,c\r", {"line_ends": "cr"})
    assert reading.cells == [["1"], ["2", "b"], ["3", "c"]]


@pytest.mark.parametrize("end", ["\r", "\n"])
def test_a_file_that_was_saved_with_other_line_ends_since_its_options_were_written_is_read(end: str) -> None:
    """An editor for the Macintosh saves a corrected error file so; one line of 0 rows would be its end."""
    assert opened(f"DOCID,Title\r2,b\r3,c{end}", {"line_ends": "lf"}).cells == [["2", "b"], ["3", "c"]]
    assert opened("DOCID,Ti\rtle\n2,b\n", {"line_ends": "lf"}).cells == [["2", "b"]]
    options = {"line_ends": "lf", "header": False, "columns": {"1": "control_number"}}
    assert opened("2,b\rc\n", options).cells == [["2", "b\rc"]]


def test_the_body_begins_behind_the_header_and_its_mark() -> None:
    reading = read_file("\ufeff\n\nDOCID,Title\r\n1,a\n".encode())
    assert (reading.layout.body_start, reading.layout.body_line) == (3 + 2 + 13, 4)


@pytest.mark.parametrize("between", [b" ", b"\0", b"\xff"], ids=repr)
def test_what_could_not_be_given_as_a_delimiter_is_not_detected_as_one(between: bytes) -> None:
    """Half a character could not even be recorded, and the rows that come back are to be read with it as an option."""
    line = "þDOCIDþ".encode() + between + "þTitleþ\n".encode()
    with pytest.raises(FileRefusedError):
        read_file(line + line.replace(b"DOCID", b"1") * 50)
