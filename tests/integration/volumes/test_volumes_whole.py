"""The whole way of a volume: uploaded, sealed, listed or expanded, imported."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

import start_import
from core.statuses import ImportStatus, VolumeStatus
from tests.integration.volumes.volume_requests import (
    DAT,
    FILES,
    OPT,
    bodies,
    build_zip,
    drain,
    finish_imports,
    import_rows,
    request,
    run,
    state,
    stored,
    upload,
    upload_zip,
    versions,
    work_messages,
)
from tests.support.application.driver import World, call, complete_imports, request_messages
from tests.support.faults.step_hooks import at_every_step

KEPT = {path: data for path, data in FILES.items() if ".DS_Store" not in path}


@pytest.mark.parametrize("send", [upload, upload_zip])
def test_a_volume_is_taken_in_whole_and_its_load_file_is_imported(world: World, send: Callable[[World], int]) -> None:
    volume_id = send(world)
    found = run(volume_id)
    assert (found.status, found.files, found.ignored, found.load_file) == (VolumeStatus.READY, 4, 1, "DATA/load.dat")
    assert found.bytes == sum(map(len, KEPT.values()))
    assert bodies(world, volume_id) == KEPT
    (message,) = request_messages()
    assert call(start_import.lambda_handler, message)
    for chunk in world.chunk_messages():
        assert world.import_chunk(chunk)
    complete_imports()
    (made,) = state(volume_id).imports
    assert (made.status, made.path) == (ImportStatus.COMPLETED, "DATA/load.dat")
    assert world.query("SELECT control_number FROM exhibits ORDER BY 1") == [("A-1",), ("A-2",)]


@pytest.mark.parametrize(
    "load_file", ["DATA/a.csv", "a.csv", "LOADFILES/a.csv", "TOP/DATA/a.csv", "TOP/a.csv", "TOP/LOADFILES/a.csv"]
)
def test_paths_begin_at_the_root_of_the_volume_wherever_the_load_file_is(world: World, load_file: str) -> None:
    native = "TOP/NATIVES/1.txt" if load_file.startswith("TOP/") else "NATIVES/1.txt"
    volume_id = upload(world, {load_file: b"Control Number,Native Path\r\nA-1,NATIVES\\1.txt\r\n", native: b"one"})
    run(volume_id, loadFile=load_file)
    finish_imports(world)
    assert world.query("SELECT f.path, l.rule FROM exhibit_files l JOIN volume_files f ON f.id = l.file_id") == [
        (native, 3)
    ]


def test_an_entry_of_a_zip_has_the_three_hashes_of_its_bytes(world: World) -> None:
    volume_id = upload_zip(world)
    run(volume_id)
    for row in stored(world, volume_id):
        for name in ("md5", "sha1", "sha256"):
            assert row[f"HEX({name})"].lower() == hashlib.new(name, FILES[row["path"]]).hexdigest()


def test_pages_and_units_leave_what_one_of_each_leaves(world: World, small_pages: None) -> None:
    folder, zipped = upload(world), upload_zip(world)
    assert run(folder).files == run(zipped).files == len(KEPT)
    for volume_id in (folder, zipped):
        assert [row["file_no"] for row in stored(world, volume_id)] == [*range(len(KEPT))]
        assert bodies(world, volume_id) == KEPT
    assert state(zipped).units == 2
    assert state(zipped).units_left == 0


def test_an_entry_that_is_too_large_for_one_request_is_written_in_parts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shell.volumes.units.LARGEST_PUT", 4)
    monkeypatch.setattr("shell.aws.new_objects.PART_BYTES", 5 << 20)
    large = bytes(range(256)) * 50_000
    volume_id = upload_zip(world, build_zip({**FILES, "NATIVES/large.bin": large}))
    run(volume_id)
    assert bodies(world, volume_id) == {**KEPT, "NATIVES/large.bin": large}
    assert stored(world, volume_id)[-1]["HEX(sha256)"].lower() == hashlib.sha256(large).hexdigest()


def test_the_import_of_the_image_load_file_waits_for_that_of_the_load_file(world: World) -> None:
    volume_id = upload(world, {**FILES, "DATA/load.opt": OPT})
    run(volume_id, dryRun=True)
    rows, images = import_rows(world, volume_id)
    assert (rows["kind"], rows["status"], rows["phase"], rows["after_import_id"]) == (
        "rows",
        "splitting",
        "check",
        None,
    )
    assert (images["kind"], images["status"], images["after_import_id"]) == ("images", "waiting", rows["id"])
    assert [message["import_id"] for message in request_messages()] == [rows["id"]]
    assert rows["size"] == len(DAT)


def test_a_volume_is_imported_again_without_another_listing(world: World) -> None:
    volume_id = upload(world)
    run(volume_id)
    before = stored(world, volume_id)
    world.query("UPDATE imports SET status = 'undone'")
    run(volume_id, options={"mode": "overlay"})
    assert stored(world, volume_id) == before
    first, second = import_rows(world, volume_id)
    assert first["upload_key"] != second["upload_key"]
    assert '"overlay"' in second["options"]


def test_what_is_chosen_is_imported(world: World) -> None:
    volume_id = upload(world, {**FILES, "DATA/other.dat": DAT})
    found = run(volume_id)
    assert (found.status, found.failure_code, found.imports) == (VolumeStatus.FAILED, "SEVERAL_LOAD_FILES", [])
    found = run(volume_id, loadFile="DATA/other.dat")
    assert (found.status, found.load_file) == (VolumeStatus.READY, "DATA/other.dat")


def test_a_zip_whose_load_file_is_missing_is_not_expanded(world: World) -> None:
    volume_id = upload_zip(world, build_zip({"NATIVES/1.txt": b"1"}))
    assert run(volume_id).failure_code == "NO_LOAD_FILE"
    assert versions(world, volume_id) == {}


@pytest.mark.slow
def test_statements_do_not_grow_with_the_files_below_a_thousand(world: World) -> None:
    counts = []
    for number in (1, 200):
        volume_id = upload(world, {**FILES, **{f"TEXT/{n}.txt": b"t" for n in range(number)}})
        request(volume_id)
        with at_every_step(world) as steps:
            drain(volume_id)
        counts.append(steps.count)
        work_messages()
    assert counts[0] == counts[1]
