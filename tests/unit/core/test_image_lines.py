"""A line of an image load file: every shape that real files have, and what is wrong with the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import Rejection
from core.image_load_file.ipro import parse_lfp_line
from core.image_load_file.lines import LineStream, parse_line, read_line
from core.image_load_file.opticon import parse_opticon_line
from core.image_load_file.page_lines import FileType, ImageFileKind, LineError, PageLine, SkippedLine
from core.load_file.encoding import BYTEWISE

TEXTS = st.text(st.sampled_from("IMYNydc,,,;;@#\\/. 0123\t\0\x1aé\u2028\udc80"), max_size=40)


@pytest.mark.parametrize(
    ("text", "starts", "path", "count"),
    [
        ("A,V,P\\a.tif,Y,,,3", True, "P\\a.tif", 3),
        ("A,V,P\\a.tif,y,Y,Y,", True, "P\\a.tif", None),
        ("A,V,P\\a.tif,,,,", False, "P\\a.tif", None),
        ("A,V,P\\a.tif,N,N,N,1", False, "P\\a.tif", 1),
        (" A ,V, P\\a.tif , Y ,,, 003 ", True, "P\\a.tif", 3),
        ("A,V,P\\a.tif,Y", True, "P\\a.tif", None),
        ("A,V,P\\a.tif,", False, "P\\a.tif", None),
        ("A,V,P\\a.tif,Y,12", True, "P\\a.tif", 12),
        ("A,V,P\\a.tif,Y,N", True, "P\\a.tif", None),
        ("A,V,P\\a.tif,Y,2,,", True, "P\\a.tif", 2),
        ("A,V,P\\a.tif,Y,2,", True, "P\\a.tif", 2),
        ("A,V,P\\a.tif,Y,001,002,3", True, "P\\a.tif", 3),
        ("A,V,P\\a.tif,Y,F1,B1,3", True, "P\\a.tif", 3),
        ("A,V,Smith, J\\a.tif,Y,,,3", True, "Smith, J\\a.tif", 3),
        ("A,V,Smith, Y, J\\a.tif,,,,", False, "Smith, Y, J\\a.tif", None),
        ("A,V,a,b,c.tif,Y,,,", True, "a,b,c.tif", None),
        ("A,V,P\\a.tif,Y,,,3,", True, "P\\a.tif", 3),
        ("A,V,P\\a.tif,,,,,,", False, "P\\a.tif", None),
        ("A,V,Smith, J\\a.tif,Y,,,3,", True, "Smith, J\\a.tif", 3),
        ("A,V,P\\a.tif,Y,,,0", True, "P\\a.tif", 0),
    ],
)
def test_an_opticon_line_is_read_in_every_shape(text: str, starts: bool, path: str, count: int | None) -> None:
    assert parse_opticon_line(text) == PageLine("A", "V", path, starts, count)


def test_a_volume_may_be_blank() -> None:
    assert parse_opticon_line("A,,a.tif,Y,,,1") == PageLine("A", "", "a.tif", True, 1)


@pytest.mark.parametrize(
    ("text", "column", "starts"),
    [
        ("garbage", None, False),
        ("A,V,a.tif", None, False),
        ("A,V,a.tif,X,,,1", "document break", False),
        ('"A","V","a.tif","Y"', "document break", False),
        ("A,V,Smith, J\\a.tif,Y", "document break", False),
        (",V,a.tif,Y,,,1", "image key", True),
        ("A,V,,,,,", "path", False),
        ("A,V,a.tif,Y,,,many", "page count", True),
        ("A,V,a.tif,Y,,,-1", "page count", True),
        ("A,V,a.tif,Y,,,\u00b2", "page count", True),
        ("A,V,a.tif,Y,,," + "9" * 5_000, "page count", True),
        ("A,V,a.tif,Y,pages", "page count", True),
    ],
)
def test_an_opticon_line_that_cannot_be_read_names_its_column(text: str, column: str | None, starts: bool) -> None:
    error = parse_opticon_line(text)
    assert isinstance(error, LineError)
    assert (error.code, error.column, error.starts_document) == (Rejection.OPT_COLUMNS, column, starts)


@pytest.mark.parametrize("text", ["A,V,a.tif,Y,,,3,1", "A,V,a.tif,Y,,,3,1,2", "A,V,a,,Y,,,", "A,V,a.tif,N,x,,3,1,2"])
def test_a_document_break_never_becomes_part_of_a_path(text: str) -> None:
    error = parse_opticon_line(text)
    assert isinstance(error, LineError)
    assert error.column is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IM,A,D,0,@V;I\\1;a.tif;2,0", PageLine("A", "V", "I\\1\\a.tif", True, file_type=FileType.TIFF)),
        ("IM,A,,0,@V;I\\1\\;a.jpg;4", PageLine("A", "V", "I\\1\\a.jpg", False, file_type=FileType.JPEG)),
        ("im,A, ,2,@V;I/1/;a.pdf;7,1", PageLine("A", "V", "I/1/a.pdf", False, None, 2, FileType.PDF, 90)),
        ("IM,A,c,,@;;a.tif;3,270", PageLine("A", "", "a.tif", True, rotation=270)),
        ("IM,A,S,0,@V;a.tif;2", PageLine("A", "V", "a.tif", True, file_type=FileType.TIFF)),
        ("IM,A,B,0,a.tif;2,2", PageLine("A", "", "a.tif", True, file_type=FileType.TIFF, rotation=180)),
        ("IM,A,F,1,@V;Smith, J;a,b;c.tif;2,", PageLine("A", "V", "Smith, J;a,b\\c.tif", True, None, 1, FileType.TIFF)),
        ("## IM,A,D", SkippedLine("##")),
        ("FT,A,1,2", SkippedLine("FT")),
        ("bf,A,D", SkippedLine("BF")),
    ],
)
def test_a_line_of_an_lfp_is_read_in_every_shape(text: str, expected: PageLine | SkippedLine) -> None:
    assert parse_lfp_line(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "starts"),
    [
        ("garbage", None, False),
        ("IM,A,D", None, False),
        ("IM,A,X,0,@V;D;a.tif;2", "boundary flag", False),
        ("IM,,D,0,@V;D;a.tif;2", "image key", True),
        ("IM,A,D,one,@V;D;a.tif;2", "offset", True),
        ("IM,A,D,0,@V;D;a.tif", "file", True),
        ("IM,A,,0,@V;D; ;2", "file", False),
        ("IM,A,D,0,@a.tif;2", "file", True),
        ("IM,A,D,0,@V;D;a.tif;2,45", "rotation", True),
    ],
)
def test_a_line_of_an_lfp_that_cannot_be_read_names_its_column(text: str, column: str | None, starts: bool) -> None:
    error = parse_lfp_line(text)
    assert isinstance(error, LineError)
    assert (error.code, error.column, error.starts_document) == (Rejection.OPT_COLUMNS, column, starts)


@pytest.mark.parametrize("kind", list(ImageFileKind))
@pytest.mark.parametrize("text", ["", " \t", "\x1a"])
def test_a_blank_line_is_skipped(kind: ImageFileKind, text: str) -> None:
    assert read_line(kind, text) == SkippedLine()


def test_a_line_with_undecodable_bytes_is_an_error_that_begins_its_document_all_the_same() -> None:
    error = read_line(ImageFileKind.OPT, "A\udcff,V,a.tif,Y,,,1")
    assert isinstance(error, LineError)
    assert (error.code, error.starts_document) == (Rejection.UNDECODABLE_BYTES, True)
    assert error.image_key == "A\ufffd"
    assert "0xFF" in error.message


@given(st.sampled_from(list(ImageFileKind)), TEXTS, TEXTS)
def test_any_text_is_a_line_whose_document_break_does_not_depend_on_the_encoding(
    kind: ImageFileKind, before: str, after: str
) -> None:
    text = f"{before},{after}"
    raw = text.encode("utf-8", "surrogateescape")
    bytewise, decoded = parse_line(kind, raw.decode(BYTEWISE)), parse_line(kind, text)
    assert type(bytewise) is type(decoded)
    assert getattr(bytewise, "starts_document", None) == getattr(decoded, "starts_document", None)


@pytest.mark.parametrize("encoding", [BYTEWISE, "utf-16-le"])
@pytest.mark.parametrize("step", [1, 3, 1_000])
def test_lf_cr_and_crlf_end_a_line_wherever_a_block_ends(encoding: str, step: int) -> None:
    raw = "a\r\nbc\n\rd\r\re\u0085".encode(encoding)
    stream = LineStream(encoding, 0)
    batches = [batch for start in range(0, len(raw), step) for batch in stream.feed(raw[start : start + step])]
    batches += stream.finish()
    assert [text for batch in batches for text in batch.texts] == ["a", "bc", "", "d", "", "e\u0085"]
    assert sum(size for batch in batches for size in batch.sizes) == len(raw)
    assert stream.lines_seen == 6
