"""The documents of an image load file: their pages in every shape, what they declare, and the hash of their pages."""

from __future__ import annotations

import pytest

from core.codes import Rejection, WarningCode
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.documents import ImageDocument
from core.image_load_file.page_lines import ImageFileKind


def documents(text: str, kind: ImageFileKind = ImageFileKind.OPT, first_line: int = 1) -> list[ImageDocument]:
    return list(read_image_chunk(text.encode(), kind, "utf-8", first_line, 0))


def only(text: str, kind: ImageFileKind = ImageFileKind.OPT) -> ImageDocument:
    [document] = documents(text, kind)
    return document


def numbers(document: ImageDocument) -> list[tuple[str, int]]:
    return [(page.path, page.page_in_file) for page in document.pages]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("A,V,a.tif,Y,,,2\nB,V,b.tif,,,,\n", [("a.tif", 0), ("b.tif", 0)]),
        ("A,V,a.pdf,Y,,,3\n", [("a.pdf", 1), ("a.pdf", 2), ("a.pdf", 3)]),
        ("A,V,a.tif,Y,,,1\n", [("a.tif", 0)]),
        ("A,V,a.pdf,Y,,,\n", [("a.pdf", 0)]),
        ("A,V,a.pdf,Y,,,2\nB,V,a.pdf,,,,\n", [("a.pdf", 1), ("a.pdf", 2)]),
        ("A,V,a.tif,Y,,,2\nA,V,b.tif,,,,\n", [("a.tif", 0), ("b.tif", 0)]),
        ("A,V,a.pdf,Y,,,3\nB,V,b.tif,,,,\nC,V,a.pdf,,,,\n", [("a.pdf", 1), ("b.tif", 0), ("a.pdf", 2)]),
    ],
)
def test_a_document_has_its_pages_in_every_shape(text: str, pages: list[tuple[str, int]]) -> None:
    document = only(text)
    assert numbers(document) == pages
    assert (document.key, document.error, document.warnings) == ("A", None, ())


def test_the_offsets_of_an_lfp_are_the_pages_in_its_files() -> None:
    text = "IM,A,D,2,@V;;a.pdf;7,1\nIM,B,,1,@V;;a.pdf;7\n## comment\nIM,C,,0,@V;;b.tif;2\n"
    document = only(text, ImageFileKind.LFP)
    assert numbers(document) == [("a.pdf", 2), ("a.pdf", 1), ("b.tif", 0)]
    assert [page.rotation for page in document.pages] == [90, 0, 0]
    assert [page.line_no for page in document.pages] == [1, 2, 4]
    assert (document.line_count, document.declared_count) == (4, None)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_declared_count_is_a_warning_and_the_lines_count(count: int) -> None:
    document = only(f"A,V,a.tif,Y,,,{count}\nB,V,b.tif,,,,\n")
    assert (len(document.pages), document.declared_count) == (2, count)
    assert [warning.code for warning in document.warnings] == [WarningCode.OPT_PAGE_COUNT]


def test_a_jpeg_has_one_page_whatever_its_line_declares() -> None:
    document = only("A,V,a.JPG,Y,,,4\n")
    assert numbers(document) == [("a.JPG", 0)]
    assert [warning.code for warning in document.warnings] == [WarningCode.OPT_PAGE_COUNT]


def test_a_line_that_cannot_be_read_rejects_its_document_and_no_other() -> None:
    text = "A,V,a.tif,Y,,,1\nB,V,b.tif,Y,,,2\ngarbage\nC,V,c.tif,Y,,,1\n"
    first, second, third = documents(text, first_line=11)
    assert (first.error, third.error) == (None, None)
    assert second.error is not None
    assert (second.error.code, second.error.line_no) == (Rejection.OPT_COLUMNS, 13)
    assert (second.key, second.line_no, second.line_count, second.pages) == ("B", 12, 2, [])
    assert text.encode()[second.byte_start :][: second.byte_len] == b"B,V,b.tif,Y,,,2\ngarbage\n"


def test_a_count_over_the_limit_rejects_its_document() -> None:
    document = only("A,V,a.pdf,Y,,,999999999\n")
    assert document.error is not None
    assert document.error.code == Rejection.RECORD_TOO_LARGE


def test_blank_lines_and_comments_after_the_last_page_belong_to_no_document() -> None:
    text = "IM,A,D,0,@V;;a.tif;2\nFT,A,1\n\n## end\nIM,B,D,0,@V;;b.tif;2\n"
    first, second = documents(text, ImageFileKind.LFP)
    assert (first.line_count, first.byte_len) == (1, text.index("\n") + 1)
    assert second.line_no == 5


BASE = "A,V,a.tif,Y,,,2\nB,V,b.tif,,,,\n"


@pytest.mark.parametrize("same", [BASE.replace("\n", "\r\n"), BASE.replace("Y,,,2", "y"), "\n" + BASE])
def test_the_hash_of_the_same_pages_is_the_same_wherever_and_however_they_are_written(same: str) -> None:
    assert only(same).content_hash == only(BASE).content_hash


@pytest.mark.parametrize(
    "other",
    [
        BASE.replace("A,", "C,"),
        BASE.replace("V", "W"),
        BASE.replace("b.tif", "c.tif"),
        BASE.replace("b.tif", "a.tif"),
        BASE + "C,V,c.tif,,,,\n",
        "B,V,b.tif,Y,,,2\nA,V,a.tif,,,,\n",
    ],
)
def test_the_hash_of_other_pages_is_another_one(other: str) -> None:
    assert only(other).content_hash != only(BASE).content_hash


def test_the_hash_has_the_rotation_and_the_page_but_not_the_type() -> None:
    line = "IM,A,D,1,@V;;a.tif;2,0\n"
    hashes = [
        only(text, ImageFileKind.LFP).content_hash
        for text in (line, line.replace(";2,", ";4,"), line.replace(",0\n", ",1\n"), line.replace(",1,", ",2,"))
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
