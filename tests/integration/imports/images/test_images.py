"""Imports of image load files: which pages documents get, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

from shell.tables.imports import Imports
from tests.support.application.driver import World
from tests.support.exhibits.history import find_gaps, read_history
from tests.support.imports.image_load_files import (
    DAT,
    IMAGES,
    LFP,
    OPT,
    counted,
    found,
    opt,
    page_counts,
    pages,
    results,
)
from tests.support.volumes.volume_imports import import_volume, put_volume


def run(world: World, data: bytes, **options: Any) -> int:
    """Import an image load file that was put into the bucket."""
    return world.run(data, name="images.opt", **options)


def test_the_pages_of_an_opticon_file_are_those_of_its_documents(world: World) -> None:
    world.run(DAT)
    import_id = run(world, OPT)
    assert results(world, import_id) == ("completed", 3, 3, 0, 0, 0)
    assert pages(world, with_source=True) == [
        ("A-1", 1, "A-1", r"IMAGES\1.tif", 0, 0, import_id, 1, 2, 2),
        ("A-1", 2, "A-1.2", r"IMAGES\2.tif", 0, 0, import_id, 1, 2, 2),
        ("A-2", 1, "A-2", r"IMAGES\3.jpg", 0, 0, import_id, 3, 1, 1),
        *(("A-3", number, "A-3", r"IMAGES\4.pdf", number, 0, import_id, 4, 3, 3) for number in (1, 2, 3)),
    ]
    expected = {"lines": 4, "documents": 3, "pages": 6, "lines_rejected": 0, "missing_images": 0}
    expected |= {"declared": 6, "listed": 6}
    assert counted(world, import_id) == expected
    assert world.query("SELECT kind, encoding FROM imports WHERE id = :i", i=import_id) == [("images", "utf-8")]


def test_each_document_gets_one_version_and_one_entry_of_history(world: World) -> None:
    dat = world.run(DAT)
    hashes = world.query("SELECT row_hash FROM exhibits ORDER BY id")
    run(world, OPT)
    [(sets,)] = world.query("SELECT MIN(id) FROM page_sets")
    assert find_gaps(world) == []
    assert [(number, version, action) for number, version, action, *_ in read_history(world)] == [
        (number, 2, "overlaid") for number in ("A-1", "A-2", "A-3")
    ]
    assert world.query("SELECT row_hash FROM exhibits ORDER BY id") == hashes
    assert world.query("SELECT version, page_set_id FROM exhibits ORDER BY id LIMIT 1") == [(2, sets)]
    # The rows of the data file are those that created the documents still.
    again = world.run(DAT)
    assert results(world, again) == ("completed", 3, 0, 0, 3, 0)
    assert dat != again


def test_an_ipro_file_has_rotations_offsets_and_commands_that_are_not_read(world: World) -> None:
    world.run(DAT)
    import_id = run(world, LFP)
    assert [row[1:] for row in pages(world)] == [
        (1, "A-1", r"IMAGES\1.tif", 0, 0),
        (2, "A-1.2", r"IMAGES\2.tif", 0, 90),
        (1, "A-2", r"IMAGES\3.pdf", 1, 0),
    ]
    assert found(world, "import_warnings") == [(0, "LFP_COMMAND_IGNORED", None)]
    assert counted(world, import_id)["lines"] == 3


def test_keys_that_are_bates_numbers_are_those_of_the_whole_file(world: World) -> None:
    # N-1 is also the control number of another document.
    world.run(DAT + b"N-1,X-1,other\r\n")
    import_id = run(world, opt(("N-1", 1), ("N-3", 2), ("N-4", 1)))
    assert results(world, import_id) == ("completed", 3, 3, 0, 0, 0)
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-3": 1}


def test_control_numbers_come_first_if_both_have_as_many_keys(world: World) -> None:
    world.run(b"Control Number,Bates Begin\r\nA-1,A-2\r\nA-2,A-1\r\n")
    run(world, opt(("A-1", 1), ("A-2", 2), ("A-9", 1)))
    assert page_counts(world) == {"A-1": 1, "A-2": 2}


def test_a_bates_number_of_several_documents_is_ambiguous(world: World) -> None:
    world.run(b"Control Number,Bates Begin\r\nA-1,N-1\r\nA-2,N-1\r\nA-3,N-3\r\n")
    import_id = run(world, opt(("N-1", 1), ("N-3", 1)))
    assert found(world) == [(1, "AMBIGUOUS_KEY", "N-1")]
    assert results(world, import_id) == ("completed_with_rejections", 2, 1, 0, 0, 1)


def test_documents_that_the_case_lacks_or_that_come_twice_are_rejected_with_all_their_lines(world: World) -> None:
    world.run(DAT)
    data = opt(("A-1", 2), ("A-9", 3), ("a-2", 1)) + opt(("A-1", 2), folder="OTHER")
    import_id = run(world, data)
    assert found(world) == [
        (3, "OPT_DOC_NOT_FOUND", "A-9"),
        (6, "OPT_DOC_NOT_FOUND", "a-2"),
        (7, "OPT_DUPLICATE_KEY", "A-1"),
    ]
    report = world.report(import_id)
    lines = data.splitlines(keepends=True)
    assert report["rejected_rows.opt"] == b"\xef\xbb\xbf" + b"".join(lines[2:])
    assert page_counts(world) == {"A-1": 2}
    assert counted(world, import_id) == {
        "lines": 8,
        "documents": 1,
        "pages": 2,
        "lines_rejected": 6,
        "missing_images": 0,
        "declared": 2,
        "listed": 2,
    }


def test_a_document_with_a_line_that_cannot_be_read_is_rejected_as_a_whole(world: World) -> None:
    world.run(DAT)
    data = b"A-1,V,1.tif,Y,,,2\r\nA-1.2,V\r\nA-2,V,3.tif,Y,,,1\r\nA-3,V,\xff.tif,Y,,,\r\nA-4,V,4.tif,Y,,,\r\n"
    run(world, data, encoding="utf-8")
    codes = [(1, "OPT_COLUMNS", "A-1"), (4, "UNDECODABLE_BYTES", "A-3"), (5, "OPT_DOC_NOT_FOUND", "A-4")]
    assert found(world) == codes
    [(message,)] = world.query("SELECT message FROM import_rejections WHERE line_no = 1")
    assert message.startswith("Line 2: ")
    assert page_counts(world) == {"A-2": 1}


def test_lines_before_the_first_document_and_lines_too_long_are_rejected_by_their_range(world: World) -> None:
    world.run(DAT)
    long = b"A-1.2,V," + b"x" * 70_000 + b".tif,,,,\r\n"
    data = b"A-0,V,0.tif,,,,\r\nA-0.2,V,0.tif,,,,\r\nA-1,V,1.tif,Y,,,2\r\n" + long + b"A-2,V,2.tif,Y,,,1\r\n"
    import_id = run(world, data)
    assert found(world) == [(1, "OPT_NO_DOC_BREAK", "A-0"), (3, "RECORD_TOO_LARGE", "A-1")]
    assert results(world, import_id) == ("completed_with_rejections", 3, 1, 0, 0, 2)
    assert world.report(import_id)["rejected_rows.opt"] == b"\xef\xbb\xbf" + data[: -len(b"A-2,V,2.tif,Y,,,1\r\n")]
    assert page_counts(world) == {"A-2": 1}


def test_a_path_that_the_table_cannot_hold_rejects_the_document(world: World) -> None:
    world.run(DAT)
    run(world, b"A-1,V," + b"x" * 1_100 + b".tif,Y,,,\r\nA-2,V,2.tif,Y,,,\r\n")
    assert found(world) == [(1, "KEY_TOO_LONG", "A-1")]


def test_pages_that_a_document_has_are_left_by_append_and_replaced_by_overlay(world: World) -> None:
    world.run(DAT)
    run(world, OPT)
    other = opt(("A-1", 3), ("A-2", 1))
    assert results(world, run(world, OPT)) == ("completed", 3, 0, 0, 3, 0)
    refused = run(world, other)
    assert results(world, refused) == ("completed_with_rejections", 2, 0, 0, 0, 2)
    assert found(world) == [(1, "HAS_PAGES", "A-1"), (4, "HAS_PAGES", "A-2")]
    assert results(world, run(world, other, mode="overlay")) == ("completed", 2, 0, 2, 0, 0)
    assert page_counts(world) == {"A-1": 3, "A-2": 1, "A-3": 3}
    assert results(world, run(world, other, mode="append_overlay")) == ("completed", 2, 0, 0, 2, 0)
    assert find_gaps(world) == []


def test_images_of_a_volume_are_found_and_missing_ones_are_warned_of(world: World) -> None:
    world.run(DAT)
    images = {**IMAGES, "IMAGES/3.jpg": b""}
    del images["IMAGES/2.tif"]
    volume = put_volume(world, {**images, "DATA/images.opt": OPT})
    import_id = import_volume(world, volume, "DATA/images.opt")
    assert [row[3] for row in pages(world)][:3] == ["/IMAGES/1.tif", r"IMAGES\2.tif", "/IMAGES/3.jpg"]
    assert found(world, "import_warnings") == [(2, "IMAGE_MISSING", "A-1"), (3, "FILE_EMPTY", "A-2")]
    assert counted(world, import_id)["missing_images"] == 1
    assert world.query("SELECT DISTINCT volume_id FROM page_sets") == [(volume,)]


def test_a_document_whose_image_is_missing_is_rejected_if_it_is_to_be(world: World) -> None:
    world.run(DAT)
    volume = put_volume(world, {"IMAGES/3.jpg": b"x", "IMAGES/4.pdf": b"x", "DATA/images.opt": OPT})
    import_id = import_volume(world, volume, "DATA/images.opt", missing_files="reject")
    assert found(world) == [(1, "IMAGE_MISSING", "A-1")]
    assert results(world, import_id) == ("completed_with_rejections", 3, 2, 0, 0, 1)


def test_images_that_are_found_by_other_options_replace_those_that_were_missing(world: World) -> None:
    world.run(DAT)
    data = b"A-1,VOL001,D:\\export\\IMAGES\\1.tif,Y,,,1\r\n"
    volume = put_volume(world, {**IMAGES, "DATA/images.opt": data})
    import_volume(world, volume, "DATA/images.opt")
    again = import_volume(world, volume, "DATA/images.opt", mode="overlay", strip_prefix="D:\\export")
    assert results(world, again) == ("completed", 1, 0, 1, 0, 0)
    assert pages(world)[0][3] == "/IMAGES/1.tif"
    assert found(world, "import_warnings") == [(1, "PATH_REFUSED", "A-1")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_files_in_all_encodings_have_the_same_pages(world: World, encoding: str) -> None:
    world.run("Control Number\r\nÄ-1\r\nÄ-2\r\n".encode())
    text = opt(("Ä-1", 2), ("Ä-2", 1), ("Ä-1", 1)).decode()
    import_id = run(world, text.encode(encoding))
    assert page_counts(world) == {"Ä-1": 2, "Ä-2": 1}
    assert found(world) == [(4, "OPT_DUPLICATE_KEY", "Ä-1")]
    assert world.report(import_id)["rejected_rows.opt"].decode("utf-8-sig") == text.splitlines(keepends=True)[-1]


def test_a_file_that_has_to_be_an_image_load_file_and_is_none_is_refused(world: World) -> None:
    volume = put_volume(world, {"DATA/images.opt": DAT})
    world.query("ALTER TABLE imports ALTER kind SET DEFAULT 'images'")
    try:
        import_id = import_volume(world, volume, "DATA/images.opt")
    finally:
        world.query("ALTER TABLE imports ALTER kind SET DEFAULT 'rows'")
    expected = [("failed", "UNSUPPORTED_FORMAT")]
    assert world.query("SELECT status, failure_code FROM imports WHERE id = :i", i=import_id) == expected
    assert Imports.__table__.c.kind.server_default is not None


def test_an_opticon_file_is_read_as_it_is_whatever_encoding_its_volume_states(world: World) -> None:
    world.run(DAT)
    volume = put_volume(world, {**IMAGES, "DATA/images.opt": OPT})
    import_id = import_volume(world, volume, "DATA/images.opt", encoding="utf-16-le")
    assert results(world, import_id)[0] == "completed"
