"""The load files of a held volume take their steps together: the data file first, its images when that has ended."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from core.contracts.imports.checks import RunRequest
from core.contracts.imports.options import NewOptions
from core.errors import StaleVersionError, WrongStateError
from shell.imports.commands import cancel_import, retry_import
from shell.imports.steps import change_options, check_import, run_import
from shell.volumes.commands import delete_volume
from shell.volumes.runs import run_volume
from tests.integration.volumes.volume_requests import (
    CALLER,
    committed,
    finish_imports,
    request,
    run,
    state,
    upload,
)
from tests.support.application.driver import World, request_messages

DAT = b"Number;Name;Native Path\r\nA-1;One;NATIVES\\1.txt\r\nA-2;Two;NATIVES\\1.txt\r\n"
OPT = b"A-1,VOL,IMAGES\\1.tif,Y,,,1\r\nA-2,VOL,IMAGES\\2.tif,Y,,,2\r\nA-2b,VOL,IMAGES\\3.tif,,,,\r\n"
FILES = {
    "DATA/load.csv": DAT,
    "DATA/images.opt": OPT,
    "NATIVES/1.txt": b"native",
    **{f"IMAGES/{n}.tif": b"image" for n in (1, 2, 3)},
}
RIGHT: dict[str, Any] = {"delimiter": ";", "columns": {"Number": "control_number", "Name": "title"}}
OTHER: dict[str, Any] = {"delimiter": ";", "columns": {"Name": "control_number"}}
ACCEPT = RunRequest.model_validate({"acceptRejections": True})
PAGES = (
    "SELECT e.control_number, e.title, (SELECT COUNT(*) FROM pages p WHERE p.page_set_id = e.page_set_id), "
    "(SELECT COUNT(*) FROM exhibit_files f WHERE f.exhibit_id = e.id) "
    "FROM exhibits e JOIN cases c ON c.id = e.case_id WHERE c.name = :case ORDER BY 1"
)


def hold(world: World, **options: Any) -> tuple[int, int, int]:
    """A volume whose imports are held: its id, and those of its data file and its images."""
    volume_id = upload(world, FILES, case="Held")
    run(volume_id, hold=True, options=options)
    images, rows = state(volume_id).imports
    return volume_id, rows.id, images.id


def statuses(volume_id: int) -> tuple[str, str]:
    """Of the data file and of the images."""
    images, rows = state(volume_id).imports[:2]
    return str(rows.status), str(images.status)


def change(import_id: int, seen: int, options: dict[str, Any]) -> None:
    committed(change_options, CALLER, import_id, {seen}, NewOptions.model_validate({"options": options}))


def contents(world: World, case: str) -> Any:
    return world.query(PAGES, case=case)


@pytest.fixture
def right(world: World) -> Any:
    """What the right options leave of the volume at once."""
    run(upload(world, FILES, case="Right"), options=RIGHT)
    finish_imports(world)
    found = contents(world, "Right")
    assert [row[2] for row in found] == [1, 2]
    return found


def test_a_held_volume_is_changed_checked_and_run_as_one(world: World, right: Any) -> None:
    volume_id, rows, images = hold(world, **OTHER)
    finish_imports(world)
    assert statuses(volume_id) == ("uploaded", "uploaded")
    committed(check_import, CALLER, rows, {1})
    assert statuses(volume_id) == ("splitting", "waiting")
    finish_imports(world)
    assert statuses(volume_id) == ("checked", "checked")
    change(rows, 1, RIGHT)
    assert [(each.status, each.options_version) for each in state(volume_id).imports] == [("uploaded", 2)] * 2
    committed(check_import, CALLER, rows, {2})
    finish_imports(world)
    with pytest.raises(StaleVersionError):
        committed(run_volume, CALLER, volume_id, ACCEPT, {1})
    committed(run_volume, CALLER, volume_id, ACCEPT, {2})
    assert statuses(volume_id) == ("running", "waiting")
    finish_imports(world)
    assert statuses(volume_id) == ("completed", "completed")
    assert contents(world, "Held") == right
    counts = "SELECT COUNT(*), MIN(imported), MAX(imported), SUM(rejected) FROM imports WHERE id IN :ids"
    assert world.query(counts.replace(":ids", f"({rows}, {images})")) == [(2, 2, 2, 0)]
    codes = "SELECT code FROM import_warnings WHERE import_id IN (:rows, :images) AND code = 'DIFFERS_FROM_CHECK'"
    assert world.query(codes, rows=rows, images=images) == []


@pytest.mark.parametrize("by", ["volume", "data file"])
def test_a_held_volume_is_run_without_a_check(world: World, right: Any, by: str) -> None:
    volume_id, rows, _ = hold(world, **RIGHT)
    if by == "volume":
        committed(run_volume, CALLER, volume_id, RunRequest())
    else:
        committed(run_import, CALLER, rows, RunRequest())
    assert statuses(volume_id) == ("splitting", "waiting")
    finish_imports(world)
    assert statuses(volume_id) == ("completed", "completed")
    assert contents(world, "Held") == right


def test_images_are_never_released_by_a_data_file_that_is_held(world: World) -> None:
    volume_id, rows, images = hold(world, **RIGHT)
    for step in (cancel_import, retry_import):
        committed(step, CALLER, images)
    assert statuses(volume_id) == ("uploaded", "uploaded")
    for request_ in (check_import, partial(run_import, body=RunRequest())):
        with pytest.raises(WrongStateError, match=f"send this for import {rows}"):
            committed(request_, CALLER, images)
    with pytest.raises(WrongStateError, match=f"send this for import {rows}"):
        change(images, 1, OTHER)
    assert request_messages() == []


def test_both_are_cancelled_and_held_again_with_the_data_file(world: World, right: Any) -> None:
    volume_id, rows, _ = hold(world, **OTHER)
    committed(cancel_import, CALLER, rows)
    assert statuses(volume_id) == ("cancelled", "blocked")
    committed(retry_import, CALLER, rows)
    assert (statuses(volume_id), request_messages()) == (("uploaded", "uploaded"), [])
    change(rows, 1, RIGHT)
    committed(run_volume, CALLER, volume_id, RunRequest(), {2})
    finish_imports(world)
    assert contents(world, "Held") == right


def test_images_that_were_checked_are_run_after_a_data_file_that_was_run_alone(world: World, right: Any) -> None:
    volume_id = upload(world, FILES, case="Held")
    run(volume_id, dryRun=True, options=RIGHT)
    finish_imports(world)
    committed(run_import, CALLER, state(volume_id).imports[1].id, ACCEPT)
    finish_imports(world)
    assert statuses(volume_id) == ("completed", "checked")
    committed(run_volume, CALLER, volume_id, ACCEPT)
    finish_imports(world)
    assert statuses(volume_id) == ("completed", "completed")
    assert contents(world, "Held") == right


def test_a_data_file_that_fails_blocks_its_images_until_it_is_read_with_other_options(world: World, right: Any) -> None:
    volume_id, rows, _ = hold(world, delimiter="|")
    committed(run_volume, CALLER, volume_id, RunRequest())
    finish_imports(world)
    assert statuses(volume_id) == ("failed", "blocked")
    change(rows, 1, RIGHT)
    assert statuses(volume_id) == ("uploaded", "uploaded")
    committed(run_volume, CALLER, volume_id, RunRequest(), {2})
    finish_imports(world)
    assert contents(world, "Held") == right


def test_a_volume_without_anything_to_run_says_so(world: World) -> None:
    volume_id = upload(world, FILES, case="Held")
    with pytest.raises(WrongStateError, match="no imports yet"):
        committed(run_volume, CALLER, volume_id, RunRequest())
    run(volume_id, options=RIGHT)
    with pytest.raises(WrongStateError, match="status splitting, and nothing is held"):
        committed(run_volume, CALLER, volume_id, RunRequest())


def test_a_held_volume_is_neither_imported_again_nor_deleted(world: World) -> None:
    volume_id, rows, _ = hold(world, **RIGHT)
    with pytest.raises(WrongStateError, match=f"Import {rows} of the volume has not ended"):
        request(volume_id)
    with pytest.raises(WrongStateError, match=f"Import {rows} needs the files"):
        committed(delete_volume, CALLER, volume_id)


def test_a_worker_of_the_previous_release_cannot_create_imports_of_a_held_volume(world: World) -> None:
    """It takes `dry_run` from the request, which a request to hold has not."""
    volume_id = upload(world, FILES, case="Held")
    request(volume_id, hold=True)
    ((document,),) = world.query("SELECT JSON_KEYS(import_request) FROM volumes WHERE id = :id", id=volume_id)
    assert '"dry_run"' not in document
    assert '"hold"' in document


def test_candidates_are_listed_also_where_there_are_several(world: World) -> None:
    files = {
        **{f"DATA/{name}": b"Control Number\r\nA-1\r\n" for name in ("a.dat", "b.csv", "readme.txt")},
        "DATA/v.opt": b"A-1,V,1.tif,Y,,,1\r\n",
        "TEXT/1/A-1.txt": b"text",
        "NATIVES/1/x.csv": b"a,b\r\n",
    }
    volume_id = upload(world, files)
    assert state(volume_id).candidates == []
    found = run(volume_id)
    assert (found.status, found.failure_code) == ("failed", "SEVERAL_LOAD_FILES")
    assert [(each.path, each.kind, each.size) for each in found.candidates] == [
        (path, kind, len(files[path]))
        for path, kind in (
            *(("DATA/a.dat", "data"), ("DATA/b.csv", "data"), ("DATA/readme.txt", "data"), ("DATA/v.opt", "images")),
            ("NATIVES/1/x.csv", "data"),
        )
    ]
    assert run(volume_id, loadFile="DATA/b.csv").load_file == "DATA/b.csv"
