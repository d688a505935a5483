"""An Opticon file, an IPRO file and a DAT are distinguished by their content."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given

from core.image_load_file.detection import detect_image_file
from core.image_load_file.page_lines import ImageFileKind
from samples.generator import Generated
from tests.unit.core.file_reading import clear_files

OPT = "A-1,V,I\\a.tif,Y,,,2\r\nA-2,V,I\\b.tif,,,,\r\n"
LFP = "## made by hand\r\nIM,A-1,D,0,@V;I;a.tif;2,0\r\nIM,A-2,,0,@V;I;b.tif;2,0\r\n"


def detected(text: str, encoding: str = "utf-8") -> ImageFileKind | None:
    return detect_image_file(text.encode(encoding), whole=True).kind


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", 0), ("utf-8-sig", 3), ("utf-16", 2), ("cp1252", 0)])
def test_both_formats_are_detected_in_every_encoding(encoding: str, mark: int) -> None:
    for text, kind in ((OPT, ImageFileKind.OPT), (LFP, ImageFileKind.LFP)):
        found = detect_image_file(text.replace("I", "é").replace("éM,", "IM,").encode(encoding), whole=True)
        assert (found.kind, found.mark_bytes) == (kind, mark)
        assert found.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("\r\n \r\n", "empty"),
        ("þDOCIDþ\x14þPATHþ\r\nþA-1þ\x14þa.tifþ\r\n", "DAT"),
        ("Control Number,Custodian,Native Link,Responsive\r\nA-1,Smith,a.pdf,Y\r\n", "neither"),
        ("A-1,V,a.tif,,,,\r\nA-2,V,b.tif,,,,\r\n", "neither"),
        ("A-1,Smith,2024,Y\r\nA-2,Smith,2025,Y\r\n", "neither"),
        ("FT,A-1,1,1\r\nOF,A-1,x\r\n", "neither"),
        ("A-1|V|a.tif|Y\r\n", "neither"),
        ("A-1,V,I\\a.djvu,Y,,,1\r\nA-2,V,I\\b,Y,,,1\r\n", "none of the extensions of images"),
    ],
)
def test_another_file_is_neither_and_the_reason_says_why(text: str, reason: str) -> None:
    found = detect_image_file(text.encode(), whole=True)
    assert found.kind is None
    assert reason in found.reason


def test_a_path_with_a_thorn_does_not_make_a_dat_of_an_opticon_file() -> None:
    assert detected(OPT.replace("a.tif", "þór.tif"), "cp1252") is ImageFileKind.OPT


def test_a_line_that_the_sample_cuts_does_not_count() -> None:
    head = OPT.encode() * 10_000 + b"A-3,V,I"
    assert detect_image_file(head, whole=False).kind is ImageFileKind.OPT


def test_a_given_encoding_overrides_a_byte_order_mark() -> None:
    found = detect_image_file(codecs.BOM_UTF8 + OPT.encode(), whole=True, encoding="cp1252")
    assert (found.encoding, found.mark_bytes, found.kind) == ("cp1252", 3, ImageFileKind.OPT)
    wide = detect_image_file(OPT.encode("utf-16-le"), whole=True, encoding="utf-16-le")
    assert (wide.encoding, wide.mark_bytes, wide.kind) == ("utf-16-le", 0, ImageFileKind.OPT)
    assert detect_image_file(OPT.encode("utf-32"), whole=True).kind is None


@given(clear_files())
def test_a_data_file_is_neither(generated: Generated) -> None:
    assert detect_image_file(generated.data, whole=True).kind is None
