"""Images follow a corrected row by themselves: once, as an import of its own that is undone like any other."""

from __future__ import annotations

import pytest

import complete_import
import import_chunk
import start_import
from core.errors import WrongStateError
from shell.imports.completing.completion import fail_completion
from shell.imports.queries import get_import
from shell.imports.state.records import load_current_import
from tests.integration.volumes.test_corrected_volumes import list_unreferenced
from tests.integration.volumes.volume_requests import CALLER, finish_imports, import_rows, run, upload
from tests.support.application.driver import Message, World, call, completion_messages, request_messages
from tests.support.imports.corrected_rows import (
    CLIENT,
    Change,
    correct,
    count_open,
    get_state,
    list_rows,
    post,
    set_cell,
)
from tests.support.imports.image_load_files import opt, page_counts, pages, results
from tests.support.undo.runs import dump_documents, request_undo, undo

# Lines 3 to 5 are rejected; the images of the first two lie under, the third has none.
DATA = b"Control Number,Title\r\nA-1,one\r\n,two\r\nA-1,three\r\n,five\r\nA-4,four\r\n"
DOCUMENTS = (("A-1", 1), ("A-2", 2), ("A-3", 1), ("A-4", 1), ("A-9", 1))
LINE_OF_A2, LINE_OF_A9 = 2, 6
FILES = {
    "DATA/load.csv": DATA,
    "DATA/load.opt": opt(*DOCUMENTS),
    "other.bin": b"nothing names it",
    **{f"DATA/IMAGES/{key}.{page}.tif": b"image" for key, number in DOCUMENTS for page in range(number)},
}
TO_A2: dict[int, Change] = {3: set_cell(0, "A-2")}


def import_volume(world: World, files: dict[str, bytes] = FILES) -> tuple[int, int]:
    """The imports of a volume's data file and of its image load file."""
    volume_id = upload(world, files)
    run(volume_id)
    finish_imports(world)
    rows, images = (int(each["id"]) for each in import_rows(world, volume_id))
    return rows, images


def list_followed(world: World, correction: int) -> list[int]:
    """The imports of images that come after a correction."""
    return [row[0] for row in world.query("SELECT id FROM imports WHERE after_import_id = :i", i=correction)]


def correct_all(world: World, rows: int, changes: dict[int, Change]) -> tuple[int, list[int]]:
    """Correct lines, and import what follows; the correction, and the imports of images that followed it."""
    correction = correct(world, rows, changes)
    finish_imports(world)
    return correction, list_followed(world, correction)


def check_open(world: World, import_id: int, expected: int) -> None:
    """The count of the API is that of the tables and of the list."""
    listed = sum(row["rows"] for row in list_rows(import_id, open="true"))
    assert (get_state(import_id)["openRejections"], count_open(world, import_id), listed) == (expected,) * 3


def test_images_of_a_corrected_row_are_those_under_its_right_id(world: World) -> None:
    rows, images = import_volume(world)
    before, reports = dump_documents(world), world.report(images)
    check_open(world, images, 3)
    correction, (followed,) = correct_all(world, rows, TO_A2)
    assert results(world, followed) == ("completed", 1, 1, 0, 0, 0)
    assert [row for row in pages(world, with_source=True) if row[0] == "A-2"] == [
        ("A-2", 1, "A-2", "/DATA/IMAGES/A-2.0.tif", 0, 0, followed, LINE_OF_A2, 2, 2),
        ("A-2", 2, "A-2.1", "/DATA/IMAGES/A-2.1.tif", 0, 0, followed, LINE_OF_A2, 2, 2),
    ]
    state = get_state(followed)
    assert (state["corrects"], state["kind"], state["userId"]) == (images, "images", "ann")
    assert get_state(images)["correctedBy"] == [followed]
    assert {row["line"]: row["correctedBy"] for row in list_rows(images)} == {2: followed, 4: None, LINE_OF_A9: None}
    check_open(world, images, 2)
    # The files of the whole volume are counted with both imports of images, and the first one's reports stay.
    assert list_unreferenced(world, followed) == [("UNREFERENCED_FILE", "other.bin")]
    world.query("UPDATE imports SET reports_generation = 0 WHERE id = :i", i=images)
    assert world.report(images) == reports
    assert "report.csv" in world.report(followed)
    with pytest.raises(WrongStateError, match=f"Import {followed} added the images"):
        request_undo(correction)
    undo(world, followed)
    check_open(world, images, 3)
    undo(world, correction)
    assert dump_documents(world) == before
    # Undone, both can be done once more; the imports of the volume can be undone first, too.
    correction, (followed,) = correct_all(world, rows, TO_A2)
    assert undo(world, images).kept == undo(world, rows).kept == 0
    assert page_counts(world) == {"A-2": 2}
    assert undo(world, followed).kept == undo(world, correction).kept == 0
    assert world.query("SELECT COUNT(*) FROM page_sets")[0][0] == 0


def test_all_documents_and_what_is_left_out(world: World) -> None:
    """Documents that follow each other are one chunk, and one without pages is counted once."""
    rows, images = import_volume(world)
    nothing, followed = correct_all(world, rows, {3: set_cell(0, "B-1")})
    assert (followed, get_state(nothing)["status"]) == ([], "completed")
    undo(world, nothing)
    _, (followed_id,) = correct_all(world, rows, {**TO_A2, 4: set_cell(0, "A-3"), 5: set_cell(0, "A-5")})
    assert results(world, followed_id) == ("completed", 2, 2, 0, 0, 0)
    assert world.query("SELECT COUNT(*) FROM import_chunks WHERE import_id = :i", i=followed_id)[0][0] == 1
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-3": 1, "A-4": 1}
    without = "SELECT import_id, control_number, SUBSTRING_INDEX(message, ':', 1) FROM import_warnings WHERE code = "
    # The line is that of the data file, not that of the rows that were sent.
    expected = (followed_id, "A-5", "Line 5 of the data file")
    assert [tuple(row) for row in world.query(f"{without}'NO_IMAGES'")] == [expected]
    figures = get_import(CALLER, followed_id).pages
    assert figures is not None
    assert (figures.documents, figures.without_images) == (2, 1)
    assert post(images, discard=[LINE_OF_A9]).status == 201
    check_open(world, images, 0)
    check_open(world, rows, 0)


def test_boundary_commands_decide_as_in_the_whole_file(world: World) -> None:
    keys = [f"P-{number}" for number in range(1, 7)]
    lines = [
        f"IM,{key},{flag},0,@VOL;IMG;{key}.TIF;2,0" for key, flag in zip(keys, ["D", "", "D", "D", "", ""], strict=True)
    ]
    images_file = "\r\n".join([*lines, "BF,P-4,", "BF,P-6,D", ""]).encode()
    data = b"Control Number,Title\r\nP-1,one\r\n,two\r\nP-6,three\r\n"
    volume = {"DATA/load.csv": data, "DATA/load.lfp": images_file} | {f"IMG/{key}.TIF": b"image" for key in keys}
    rows, images = import_volume(world, volume)
    check_open(world, images, 1)
    correct_all(world, rows, {3: set_cell(0, "P-3")})
    assert page_counts(world) == {"P-1": 2, "P-3": 3, "P-6": 1}
    check_open(world, images, 0)


def begin_images(world: World) -> tuple[int, int, Message]:
    """The imports of a volume, of which that of the images is split: the message that has its only chunk imported."""
    volume_id = upload(world, FILES)
    run(volume_id)
    (first,) = request_messages()
    assert call(start_import.lambda_handler, first)
    for chunk in world.chunk_messages():
        assert world.import_chunk(chunk)
    rows, images = (int(each["id"]) for each in import_rows(world, volume_id))
    for request in request_messages():
        assert call(start_import.lambda_handler, request)
    (chunk,) = world.chunk_messages()
    return rows, images, chunk


def hold_images(world: World) -> tuple[int, int, Message]:
    """The imports of a volume, of which that of the images is not completed: the message that has it completed."""
    rows, images, chunk = begin_images(world)
    assert call(import_chunk.lambda_handler, chunk)
    (completion,) = completion_messages()
    return rows, images, completion


def test_images_that_end_after_the_correction(world: World) -> None:
    """The end of the images creates what the end of the correction could not."""
    rows, images, completion = hold_images(world)
    correction = correct(world, rows, TO_A2)
    assert (get_state(correction)["status"], list_followed(world, correction)) == ("completed", [])
    assert call(complete_import.lambda_handler, completion)
    (followed,) = list_followed(world, correction)
    finish_imports(world)
    assert results(world, followed) == ("completed", 1, 1, 0, 0, 0)
    check_open(world, images, 2)


def test_images_that_are_cancelled_after_the_correction(world: World) -> None:
    """The documents that were rejected before follow, as if the images had been completed."""
    rows, images, completion = hold_images(world)
    correction = correct(world, rows, TO_A2)
    assert CLIENT.post(f"/imports/{images}/cancel").status == 200
    (followed,) = list_followed(world, correction)
    call(complete_import.lambda_handler, completion)
    finish_imports(world)
    assert results(world, followed) == ("completed", 1, 1, 0, 0, 0)
    check_open(world, images, 2)


def test_images_whose_last_step_fails_after_the_correction(world: World) -> None:
    rows, images, _ = hold_images(world)
    correction = correct(world, rows, TO_A2)
    import_record = load_current_import(images)
    assert import_record is not None
    assert fail_completion(import_record, 1)
    (followed,) = list_followed(world, correction)
    finish_imports(world)
    assert results(world, followed) == ("completed", 1, 1, 0, 0, 0)
    # The images are completed by a retry, which creates no second import.
    assert CLIENT.post(f"/imports/{images}/retry").status == 200
    finish_imports(world)
    assert list_followed(world, correction) == [followed]


def test_cancelled_and_retried(world: World) -> None:
    rows, images = import_volume(world)
    correction = correct(world, rows, {**TO_A2, 4: set_cell(0, "A-3")})
    (followed,) = list_followed(world, correction)
    for request in request_messages():
        assert call(start_import.lambda_handler, request)
    refused = post(images, discard=[LINE_OF_A2])
    assert (refused.status, f"being corrected by import {followed}" in refused.json["detail"]) == (422, True)
    # The images themselves have nothing to retry: no chunk of them failed.
    assert CLIENT.post(f"/imports/{images}/retry").status == 409
    assert CLIENT.post(f"/imports/{followed}/cancel").status == 200
    finish_imports(world)
    check_open(world, images, 3)
    assert CLIENT.post(f"/imports/{followed}/retry").status == 200
    assert CLIENT.post(f"/imports/{followed}/cancel").status == 200
    assert post(images, discard=[LINE_OF_A2]).status == 201
    refused = CLIENT.post(f"/imports/{followed}/retry")
    advice = f"for the others, load the rejected-rows file of import {images} with its options."
    lost = f"1 of the rows were corrected or discarded otherwise since; {advice}"
    assert (refused.status, refused.json["detail"]) == (409, lost)
    assert "A-2" not in page_counts(world)
