"""How an image load file would be read, from its first bytes."""

from __future__ import annotations

import pytest

from core.image_load_file.detection import detect_image_file
from core.imports.image_preview import COMPARED_PATHS, PathOfLine, build_image_preview
from core.imports.preview import ImageLines, Preview
from core.load_file.options import ImportOptions

OPT = "A-1,V1,IMAGES\\1.tif,Y,,,2\r\nA-2,V1,IMAGES\\2.tif,,,,\r\n\r\nB-1,V1,IMAGES\\é.tif,Y,,,1\r\nB-2,V1,x,Z,,,\r\n"
LFP = "VN,V1\r\nIM,A-1,D,0,@V1;IMAGES;1.tif;2\r\nIM,A-2,,0,@V1;IMAGES;2.tif;2\r\n"


def read(data: bytes, size: int | None = None) -> tuple[Preview, ImageLines, list[PathOfLine]]:
    file = detect_image_file(data, whole=size is None)
    preview, paths = build_image_preview(data, size or len(data), ImportOptions(), file)
    assert preview.images is not None
    return preview, preview.images, paths


def test_an_opticon_file_shows_its_lines_and_what_it_is() -> None:
    preview, images, paths = read(OPT.encode("cp1252"))
    assert (images.kind, images.documents, images.pages, images.missing) == ("opt", 2, 4, None)
    assert "lines of an Opticon file" in images.why
    assert images.columns[:4] == ["image key", "volume", "path", "document break"]
    assert [(each.line, each.codes) for each in preview.rows[:3]] == [(1, []), (2, []), (4, [])]
    assert (preview.rows[3].line, len(preview.rows[3].codes)) == (5, 1)
    assert preview.rows[2].cells == ["B-1", "V1", "IMAGES\\é.tif", "Y", "", "", "1"]
    assert [(each.line, each.path) for each in paths] == [
        (1, "IMAGES\\1.tif"), (2, "IMAGES\\2.tif"), (4, "IMAGES\\é.tif")
    ]  # fmt: skip
    assert (preview.detection.encoding.value, preview.provisional, preview.may_change) == ("cp1252", False, [])


def test_an_ipro_file_shows_commands_too() -> None:
    preview, images, _ = read(LFP.encode())
    assert (images.kind, images.documents, images.pages) == ("lfp", 1, 2)
    assert [each.cells for each in preview.rows][:2] == [["VN", "V1"], ["IM", "A-1", "D", "0", "@V1;IMAGES;1.tif;2"]]


def test_commands_that_decide_documents_leave_their_number_open() -> None:
    boundary = "BF,A-1,D,0\r\n"
    _, images, _ = read((boundary + LFP).encode())
    assert images.documents is None


@pytest.mark.parametrize(
    ("data", "value", "certainty"),
    [
        (OPT.encode("utf-8-sig"), "utf-8", "certain"),
        (OPT.encode("utf-16"), "utf-16-le", "certain"),
        (OPT.encode("utf-8"), "utf-8", "certain"),
    ],
)
def test_the_encoding_is_that_of_the_import(data: bytes, value: str, certainty: str) -> None:
    preview, _, _ = read(data)
    assert (preview.detection.encoding.value, preview.detection.encoding.certainty) == (value, certainty)
    assert preview.rows[2].cells is not None
    assert preview.rows[2].cells[2] == "IMAGES\\é.tif"


def test_a_line_that_is_cut_is_left_out_and_few_lines_and_paths_are_kept() -> None:
    data = b"".join(b"A-%d,V,%d.tif,Y,,,\r\n" % (n, n) for n in range(2_000)) + b"A-9999,V,99"
    preview, images, paths = read(data, len(data) + 100)
    assert (preview.provisional, preview.may_change, images.pages) == (True, ["encoding"], 2_000)
    assert (len(preview.rows), len(paths)) == (20, COMPARED_PATHS)
