"""A corrected row of a volume has its files, wherever its load file is, and what nothing names is counted with it."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

import write_import_report
from shell.aws import clients
from shell.imports.queries import get_import
from tests.integration.imports.corrections.test_uploaded_corrections import upload as upload_file
from tests.integration.volumes.volume_requests import CALLER, finish_imports, import_rows, run, upload
from tests.support.application.driver import World, call
from tests.support.imports.corrected_rows import CLIENT, correct, get_state, list_rows, post, set_cell
from tests.support.imports.image_load_files import opt, page_counts
from tests.support.undo.runs import undo

HEADER = "Control Number,Native Path,Text Path\r\n"
ROWS = ("A-1,natives\\1.doc,texts\\1.txt", ",natives\\2.doc,texts\\2.txt", ",natives\\3.doc,texts\\3.txt")
FILES = {
    **{f"DATA/natives/{number}.doc": b"native" for number in (1, 2, 3)},
    **{f"DATA/texts/{number}.txt": b"text" for number in (1, 2, 3)},
    "IMG/1.tif": b"image",
    "IMG/2.tif": b"image",
    "other.bin": b"nothing names it",
}
OTHERS = ["IMG/1.tif", "IMG/2.tif", "other.bin"]
LINKED = (
    "SELECT e.control_number, l.kind, f.path FROM exhibits AS e JOIN exhibit_files AS l ON l.exhibit_id = e.id "
    "JOIN volume_files AS f ON f.id = l.file_id ORDER BY 1, 2"
)


def import_volume(world: World) -> tuple[int, int]:
    """A volume whose load file is in a subfolder, from which paths start; returns its id and that of the import."""
    data = HEADER + "".join(f"{row}\r\n" for row in ROWS)
    volume_id = upload(world, {**FILES, "DATA/load.csv": data.encode()})
    run(volume_id)
    finish_imports(world)
    (found,) = import_rows(world, volume_id)
    return volume_id, int(found["id"])


def list_unreferenced(world: World, import_id: int) -> list[tuple[str, str]]:
    """Code and path of each file that no accepted row names, as the import's report has them."""
    assert call(write_import_report.lambda_handler, {"importId": import_id, "generation": 1})
    key = f"reports/{import_id}/1/unreferenced.csv"
    body = clients.s3().get_object(Bucket=world.bucket, Key=key)["Body"].read().decode("utf-8-sig")
    return [(row["code"], row["path"]) for row in csv.DictReader(io.StringIO(body))]


def list_linked(world: World) -> list[Any]:
    """The files of each document."""
    return [tuple(row) for row in world.query(LINKED)]


def test_a_corrected_row_has_its_files(world: World) -> None:
    volume_id, import_id = import_volume(world)
    before = list_linked(world)
    assert [row[2] for row in before] == ["DATA/natives/1.doc", "DATA/texts/1.txt"]
    assert list_unreferenced(world, import_id) == [
        *(("FILE_OF_REJECTED_ROW", f"DATA/natives/{number}.doc") for number in (2, 3)),
        *(("FILE_OF_REJECTED_ROW", f"DATA/texts/{number}.txt") for number in (2, 3)),
        *(("UNREFERENCED_FILE", path) for path in OTHERS),
    ]
    correction = correct(world, import_id, {3: set_cell(0, "A-2")})
    assert list_linked(world) == [
        *before,
        ("A-2", before[0][1], "DATA/natives/2.doc"),
        ("A-2", before[1][1], "DATA/texts/2.txt"),
    ]
    unnamed = [path for code, path in list_unreferenced(world, correction) if code == "UNREFERENCED_FILE"]
    assert unnamed == OTHERS
    last = correct(world, import_id, {4: set_cell(0, "A-3")})
    assert list_unreferenced(world, last) == [("UNREFERENCED_FILE", path) for path in OTHERS]
    assert import_rows(world, volume_id)[-1]["id"] == last
    figures = get_import(CALLER, last).files
    assert figures is not None
    assert (figures.natives_linked, figures.texts_linked, figures.unreferenced) == (1, 1, 3)
    assert get_state(import_id)["openRejections"] == 0
    undo(world, last)
    undo(world, correction)
    assert list_linked(world) == before
    assert get_state(import_id)["openRejections"] == 2


def test_the_rows_of_an_uploaded_file_have_the_files_of_the_volume_without_options(world: World) -> None:
    volume_id, import_id = import_volume(world)
    before = list_linked(world)
    name = world.query("SELECT name FROM cases")[0][0]
    text = HEADER.replace("\r\n", ",ExhibitIngestLine\r\n") + f"A-2{ROWS[1]},L3\r\n"
    created = upload_file(world, import_id, text, case=name)
    assert list_linked(world) == [
        *before,
        ("A-2", before[0][1], "DATA/natives/2.doc"),
        ("A-2", before[1][1], "DATA/texts/2.txt"),
    ]
    assert import_rows(world, volume_id)[-1]["id"] == created
    assert get_state(import_id)["openRejections"] == 1
    undo(world, created)
    assert list_linked(world) == before
    assert get_state(import_id)["openRejections"] == 2


def test_the_files_of_a_volume_that_is_deleted_cannot_be_linked(world: World) -> None:
    volume_id, import_id = import_volume(world)
    cells = {row["line"]: row["cells"] for row in list_rows(import_id)}
    world.query("UPDATE volumes SET status = 'deleting' WHERE id = :i", i=volume_id)
    refused = post(import_id, {3: ["A-2", *cells[3][1:]]})
    assert (refused.status, refused.problem) == (409, "wrong-state")
    assert post(import_id, discard=[3]).status == 201
    world.query("UPDATE volumes SET status = 'ready' WHERE id = :i", i=volume_id)


@pytest.mark.parametrize("kind", ["correct", "discard"])
def test_rejected_lines_of_an_image_load_file_are_discarded_only(world: World, kind: str) -> None:
    data = HEADER + f"{ROWS[0]}\r\n"
    images = b"A-1,VOL,IMG\\1.tif,Y,,,1\r\nB-9,VOL,IMG\\2.tif,Y,,,1\r\n"
    volume_id = upload(world, {**FILES, "DATA/load.csv": data.encode(), "DATA/load.opt": images})
    run(volume_id)
    finish_imports(world)
    found = next(each for each in import_rows(world, volume_id) if each["kind"] == "images")
    (row,) = list_rows(found["id"])
    assert (row["line"], row["cells"], row["raw"]) == (2, None, "B-9,VOL,IMG\\2.tif,Y,,,1\r\n")
    assert CLIENT.get(f"/imports/{found['id']}/rejected-rows").json["columns"] is None
    if kind == "correct":
        assert post(found["id"], {2: ["x"]}).status == 409
    else:
        assert post(found["id"], discard=[2]).json["openRejections"] == 0


def test_pages_of_the_volume_are_no_newer_values(world: World) -> None:
    """The images of an overlay's volume change each document after its rows were read."""
    world.run(b"Control Number,Title\r\nA-1,base\r\nA-2,base\r\n")
    documents = (("A-1", 1), ("A-2", 1))
    files = {
        "DATA/load.csv": b"Control Number,Title\r\nA-1,seven\r\n,seven\r\n",
        "DATA/load.opt": opt(*documents),
        **{f"DATA/IMAGES/{key}.0.tif": b"image" for key, _ in documents},
    }
    volume_id = upload(world, files)
    run(volume_id, options={"mode": "overlay"})
    finish_imports(world)
    rows = int(import_rows(world, volume_id)[0]["id"])
    assert page_counts(world) == {"A-1": 1, "A-2": 1}
    state = get_state(correct(world, rows, {3: set_cell(0, "A-2")}))
    assert (state["updated"], state["rejected"]) == (1, 0)
