"""Documents of a volume's data file without pages, and documents with pages that the data file lacks."""

from __future__ import annotations

import pytest

from shell.imports.completing.completion import complete_import
from shell.imports.queries import get_import
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import World
from tests.support.imports.image_load_files import counted, found, opt, results
from tests.support.volumes.paired_imports import DAT_PATH, OPT_PATH, announce, finish
from tests.support.volumes.volume_imports import import_volume, put_volume

LINE = (
    "Line {} of the data file: the document has no pages in the image load file. Ask the sender whether it has images."
)

SHARED = "2 documents of the case begin with this Bates number: {}. Write their control numbers as image keys."


def data_file(*numbers: str) -> bytes:
    """A data file whose begin Bates numbers differ from its control numbers."""
    rows = "".join(f"{number},N-{number},{'' if 'bad' in number else '01/02/2020'}\r\n" for number in numbers)
    return f"Control Number,Bates Begin,Document Date\r\n{rows}".encode()


def page_figures(import_id: int) -> dict[str, int]:
    """The lines and the documents of an image load file."""
    pages = get_import(CALLER, import_id).pages
    assert pages is not None
    return pages.model_dump(include={"lines_seen", "imported", "rejected", "documents"})


def without_images(world: World, import_id: int, table: str = "import_warnings") -> list[tuple[object, ...]]:
    query = f"SELECT line_no, control_number, message FROM {table} WHERE import_id = :i AND code = 'NO_IMAGES' "
    return [tuple(row) for row in world.query(query + "ORDER BY seq", i=import_id)]


def test_documents_without_pages_are_warnings_of_the_images(world: World) -> None:
    files = {DAT_PATH: data_file("A-1", "A-2", "A-3"), OPT_PATH: opt(("A-2", 1), ("A-9", 1))}
    rows, images = announce(world, files)
    finish(world, rows)
    assert without_images(world, images) == [(0, "A-1", LINE.format(2)), (0, "A-3", LINE.format(4))]
    assert results(world, images) == ("completed_with_rejections", 2, 1, 0, 0, 1)
    pages = get_import(CALLER, images).pages
    assert pages is not None
    assert pages.without_images == 2
    assert world.query("SELECT warnings FROM imports WHERE id = :i", i=images)[0][0] >= 2
    assert without_images(world, rows) == []


def test_a_check_compares_both_ways_though_the_case_has_no_row(world: World) -> None:
    files = {DAT_PATH: data_file("A-1", "A-2", "A-3"), OPT_PATH: opt(("N-A-2", 1), ("N-A-9", 1))}
    rows, images = announce(world, files, check=True)
    finish(world, rows)
    assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 0
    listed = without_images(world, images, "import_check_findings")
    assert listed == [(0, "A-1", LINE.format(2)), (0, "A-3", LINE.format(4))]
    assert (2, "OPT_DOC_NOT_FOUND", "N-A-9") in found(world, "import_check_findings")
    check = get_import(CALLER, images).check
    assert check is not None
    assert (check.would_import, check.would_reject, check.status) == (1, 1, "errors")
    assert {each.code: each.count for each in check.findings if each.code != "IMAGE_MISSING"} == {
        "NO_IMAGES": 2,
        "OPT_DOC_NOT_FOUND": 1,
    }
    assert counted(world, images)["without_images"] == 2


@pytest.mark.parametrize("check", [False, True])
def test_a_key_that_several_documents_begin_with_is_refused(world: World, check: bool) -> None:
    data = b"Control Number,Bates Begin\r\nA-2,N-1\r\nA-1,N-1\r\nA-3,N-3\r\nA-4,N-4\r\n"
    files = {DAT_PATH: data, OPT_PATH: opt(("N-1", 2), ("N-3", 1), ("N-4", 1))}
    rows, images = announce(world, files, check=check)
    finish(world, rows)
    table = "import_check_findings" if check else "import_rejections"
    query = f"SELECT line_no, code, column_name, message FROM {table} WHERE import_id = :i AND code = 'AMBIGUOUS_KEY'"
    message = SHARED.format("A-1, A-2")
    assert world.query(query, i=images) == [(1, "AMBIGUOUS_KEY", "image key", message)]
    listed = without_images(world, images, "import_check_findings" if check else "import_warnings")
    assert listed == [(0, "A-2", LINE.format(2)), (0, "A-1", LINE.format(3))]
    assert page_figures(images) == {"lines_seen": 4, "imported": 2, "rejected": 2, "documents": 2}
    if check:
        outcome = get_import(CALLER, images).check
        assert outcome is not None
        assert (outcome.would_import, outcome.would_reject, outcome.status) == (2, 1, "errors")


@pytest.mark.parametrize("check", [True, False])
def test_a_key_that_a_document_of_the_case_and_a_new_row_begin_with_is_refused(world: World, check: bool) -> None:
    header = b"Control Number,Bates Begin\r\n"
    files = {DAT_PATH: header + b"A-1,N-1\r\nA-2,N-2\r\n", OPT_PATH: opt(("N-2", 1))}
    rows, _ = announce(world, files)
    finish(world, rows)
    files = {DAT_PATH: header + b"A-0,N-1\r\nA-3,N-3\r\n", OPT_PATH: opt(("N-1", 2), ("N-3", 1))}
    rows, images = announce(world, files, check=check)
    finish(world, rows)
    table = "import_check_findings" if check else "import_rejections"
    query = f"SELECT line_no, message FROM {table} WHERE import_id = :i AND code = 'AMBIGUOUS_KEY'"
    message = SHARED.format("A-0, A-1")
    assert world.query(query, i=images) == [(1, message)]
    listed = without_images(world, images, "import_check_findings" if check else "import_warnings")
    assert listed == [(0, "A-0", LINE.format(2))]
    assert page_figures(images) == {"lines_seen": 3, "imported": 1, "rejected": 2, "documents": 1}


@pytest.mark.parametrize("check", [False, True])
def test_a_document_that_has_pages_already_is_not_without(world: World, check: bool) -> None:
    rows, _ = announce(world, {DAT_PATH: data_file("A-1", "A-2"), OPT_PATH: opt(("A-1", 1))})
    finish(world, rows)
    # Unchanged rows, and images of the other document only.
    files = {DAT_PATH: data_file("A-1", "A-2", "A-3"), OPT_PATH: opt(("A-3", 1))}
    rows, images = announce(world, files, check=check)
    finish(world, rows)
    listed = without_images(world, images, "import_check_findings" if check else "import_warnings")
    assert listed == [(0, "A-2", LINE.format(3))]


def test_rejected_rows_are_not_documents(world: World) -> None:
    files = {DAT_PATH: data_file("A-1", "A-2", "A-1"), OPT_PATH: opt(("A-2", 1))}
    rows, images = announce(world, files)
    finish(world, rows)
    assert without_images(world, images) == [(0, "A-1", LINE.format(2))]


@pytest.mark.parametrize("check", [False, True])
def test_neither_the_order_of_chunks_nor_a_repeated_completion_matters(world: World, check: bool) -> None:
    numbers = [f"A-{n:05}" for n in range(6_000)]
    files = {DAT_PATH: data_file(*numbers), OPT_PATH: opt(*((number, 1) for number in numbers[::2]))}
    rows, images = announce(world, files, check=check)
    finish(world, rows, shuffled=1)
    assert min(row[0] for row in world.query("SELECT chunk_count FROM imports")) > 2
    if not check:
        # As after a retry.
        world.query("UPDATE imports SET status = 'running' WHERE id = :i", i=images)
        complete_import(images, 1)
    listed = without_images(world, images, "import_check_findings" if check else "import_warnings")
    assert [number for _, number, _ in listed] == numbers[1::2]
    assert counted(world, images)["without_images"] == 3_000


def test_of_many_documents_the_first_are_listed_and_all_are_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shell.volume_files.without_images.MAX_LISTED", 2)
    files = {DAT_PATH: data_file("A-1", "A-2", "A-3", "A-4", "A-5"), OPT_PATH: opt(("A-5", 1))}
    rows, images = announce(world, files)
    finish(world, rows)
    more = "2 more documents of the data file have no pages; only the first 2 are listed."
    assert without_images(world, images) == [
        (0, "A-1", LINE.format(2)),
        (0, "A-2", LINE.format(3)),
        (0, None, more),
    ]
    assert counted(world, images)["without_images"] == 4


def test_a_data_file_alone_has_no_documents_without_images(world: World) -> None:
    volume = put_volume(world, {DAT_PATH: data_file("A-1")})
    import_id = import_volume(world, volume, DAT_PATH)
    assert without_images(world, import_id) == []
    assert world.query("SELECT documents FROM import_chunk_files") == [(None,)]


@pytest.mark.parametrize("check", [True, False])
def test_pages_are_found_by_second_numbers_of_the_data_file(world: World, check: bool) -> None:
    data = b"Control Number,BEGBATES,PRODBEG\r\nA-1,N-1,P-1\r\nA-2,N-2,P-2\r\nA-3,N-3,P-3\r\n"
    pages = opt(("P-1", 1), ("N-2", 1), ("P-3", 2))
    rows, images = announce(world, {DAT_PATH: data, OPT_PATH: pages}, check=check)
    finish(world, rows)
    codes = f"SELECT code FROM {'import_check_findings' if check else 'import_rejections'} WHERE import_id = :i"
    assert {code for (code,) in world.query(codes, i=images)} <= {"IMAGE_MISSING"}
    assert results(world, images)[1:3] == ((3, 0) if check else (3, 3))
    assert page_figures(images)["rejected"] == 0
