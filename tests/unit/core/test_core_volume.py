"""A volume's paths and lines: files are found where a load file says, and a reader gets the cells that were written."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.errors import InvalidInputError
from core.load_file.file_signatures import _BINARY_SHARE, _CONTROLS
from core.productions.volume import (
    BOM,
    HEADER,
    FileKind,
    build_file_path,
    build_load_file_path,
    build_volume_folder,
    find_image_path,
    format_dat_line,
    format_link,
    format_opt_line,
    get_property_values,
    has_newline_mark,
    resolve_source_key,
)
from tests.support.volumes.load_file_reader import read_dat, read_opt
from tests.unit.core.file_reading import read_file

# What readers of the format stumble over, and whatever else there is.
NASTY = st.sampled_from(
    ["þ", "þþ", "\x14", "þ\x14þ", '"', ",", "\r\n", "\n", "\r", "®", " ", "😀", "\ufeff", "\x85", "\u2028"]
)
CELLS = st.lists(NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=6).map("".join)


def as_read(cell: str, marks: bool) -> str:
    """What becomes of a cell: where line breaks are marked, which kind they were is not."""
    return cell.replace("\r\n", "\n").replace("\r", "\n") if marks else cell


def dat(rows: list[list[str]], marks: bool) -> bytes:
    """A DAT of the rows, an id before each."""
    header = format_dat_line(("Begin Bates", *(f"Column {place}" for place in range(len(rows[0])))), marks=marks)
    lines = [format_dat_line((f"A{number}", *row), marks=marks) for number, row in enumerate(rows)]
    return (BOM + header + "".join(lines)).encode()


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_strict_reader_and_our_own_get_the_cells(rows: list[list[str]]) -> None:
    marks = not has_newline_mark(cell for row in rows for cell in row)
    written = dat(rows, marks)
    expected = [[f"A{number}", *(as_read(cell, marks) for cell in row)] for number, row in enumerate(rows)]
    assert [list(record.values()) for record in read_dat(written, marks)] == expected
    # A file of little else but control characters is refused as binary.
    assume(len(written.translate(None, _CONTROLS)) >= (1 - _BINARY_SHARE) * len(written))
    reading = read_file(written, {} if marks else {"newline": "none"})
    assert reading.layout.newline == ("®" if marks else None)
    newline = reading.layout.newline or "\n"
    assert [[cell.replace(newline, "\n") for cell in cells or []] for cells in reading.cells] == expected


def test_every_column_of_ours_is_taken_for_what_it_is() -> None:
    fields = read_file(
        (BOM + format_dat_line(HEADER, marks=True) + format_dat_line(["A"] * len(HEADER), marks=True)).encode()
    ).layout.fields
    assert fields == (
        *("bates_begin", "bates_end", "family_begin", None, "parent_control_number", "custodians", "title"),
        *("file_name", "document_date", "native_path", "text_path"),
    )


OBJECTS = [
    *((r".\A\b.doc", "A/b.doc"), (r"\\server\share\x.doc", "server/share/x.doc"), (r"C:\x.doc", "x.doc")),
    *(("c:x.doc", "x.doc"), ("/x.doc", "x.doc"), ("a//b.doc", "a/b.doc"), (r"a\.\b.doc", "a/b.doc"), ("./././a", "a")),
    *(("  a b/c d.doc \t", "a b/c d.doc"), ("Ünï/文件 😀.doc", "Ünï/文件 😀.doc"), ("a:b", "b"), ("ab:c", "ab:c")),
    *(("...", "..."), ("a..b/..c", "a..b/..c"), (r"VOL001\NATIVES\0001\A1.doc", "VOL001/NATIVES/0001/A1.doc")),
]


@pytest.mark.parametrize(("path", "key"), OBJECTS)
def test_a_path_means_an_object_of_the_case(path: str, key: str) -> None:
    assert resolve_source_key("acme", "Smith v. Jones", path) == f"files/acme/Smith v. Jones/{key}"


OUTSIDE = ("", " ", ".", "/", r".\\", "C:", "C:/", "..", r"..\x", "a/../b", r"a\..", "/../x", "C:..\\x")


@pytest.mark.parametrize(
    ("tenant", "case", "path"),
    [
        *(("acme", "Smith v. Jones", path) for path in OUTSIDE),
        *(("acme", "..", "beta/x.tif"), ("acme", ".", "beta/x.tif"), ("..", "Case", "beta/Case/x.tif")),
    ],
)
def test_no_path_and_no_name_leads_out_of_the_case(tenant: str, case: str, path: str) -> None:
    with pytest.raises(InvalidInputError):
        resolve_source_key(tenant, case, path)


@pytest.mark.parametrize(
    ("path", "fits"), [("a" * 1_013, True), ("a" * 1_014, False), ("é" * 506, True), ("é" * 507, False)]
)
def test_a_key_is_as_long_as_s3_takes(path: str, fits: bool) -> None:
    if fits:
        assert len(resolve_source_key("t", "ca", path).encode()) <= 1_024
    else:
        with pytest.raises(InvalidInputError, match="too long"):
            resolve_source_key("t", "ca", path)


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.lists(st.sampled_from(["..", ".", "/", "\\", "C:", "a", " "])).map("".join)
)
def test_whatever_a_path_is_its_object_is_one_of_the_case(path: str) -> None:
    try:
        key = resolve_source_key("t", "c", path)
    except InvalidInputError:
        return
    head, *parts = key.split("/")[2:]
    assert key.startswith("files/t/c/")
    assert (head, {"", ".", ".."} & set(parts)) == ("c", set())


NO_EXTENSION = ("a", "a.", "dir.ext/a", r"dir.ext\a", "a.d c", "a.döc", "a.elevenchars", "a.doc\nx")
EXTENSIONS = [
    *(("a.DOCX", ".docx"), (r"a.b\c.Tar.GZ", ".gz"), ("a.doc ", ".doc"), (".bashrc", ".bashrc")),
    *(("a.tenletters", ".tenletters"), *((source, "") for source in NO_EXTENSION)),
]


@pytest.mark.parametrize(("source", "extension"), EXTENSIONS)
def test_a_file_keeps_its_extension_if_that_is_one(source: str, extension: str) -> None:
    assert build_file_path(FileKind.NATIVE, 0, "A1", source) == f"NATIVES/0001/A1{extension}"


def test_places_within_a_volume() -> None:
    assert build_file_path(FileKind.TEXT, 199, "A1", "x.txt") == "TEXT/0200/A1.txt"
    assert build_volume_folder(7, "VOL001") == "productions/7/VOL001/"
    assert build_load_file_path("VOL001", "dat") == "DATA/VOL001.dat"
    assert format_link("VOL001", "IMAGES/0001/A1.tif") == r"VOL001\IMAGES\0001\A1.tif"


def test_an_opt_has_a_line_an_image() -> None:
    paths = [("A1", "IMAGES/0001/A1.tif", True, 2), ("A2", "IMAGES/0001/A2.tif", False, None)]
    paths.append(("A4", "IMAGES/0001/A4.pdf", True, None))
    lines = "".join(
        format_opt_line(bates, "VOL001", path, begins=begins, pages=pages) for bates, path, begins, pages in paths
    )
    assert read_opt(lines.encode()) == [
        ["A1", "VOL001", r"VOL001\IMAGES\0001\A1.tif", "Y", "", "", "2"],
        ["A2", "VOL001", r"VOL001\IMAGES\0001\A2.tif", "", "", "", ""],
        ["A4", "VOL001", r"VOL001\IMAGES\0001\A4.pdf", "Y", "", "", ""],
    ]


def test_an_image_is_where_a_column_says() -> None:
    assert find_image_path({"TIFF_PATH": " i/a.tif ", "Image Path": "b"}) == "i/a.tif"
    assert find_image_path({"TIFFPATH": "  ", "PDF Path": None, "image file": "b.jpg"}) == "b.jpg"
    assert find_image_path({"Title": "x", "Images": "7"}) is None


def test_a_column_is_found_under_its_name_however_it_is_spelled() -> None:
    said = {"FROM": "ada", "From": "bob", "E-Mail To": "eve", "Nil": None, "#": "1", "Empty": ""}
    assert get_property_values(said, ["From", "FROM", "from", "EMAIL_TO", "Nil", "nil", "Cc", "Empty"]) == [
        *("bob", "ada", "ada", "eve", "", "", "", ""),
    ]
    assert get_property_values(said, ["#", "§"]) == ["1", ""]
