"""A volume that is undone leaves its files and nothing else, until it is deleted; what productions need stays."""

from __future__ import annotations

from typing import Any

import pytest

from core.statuses import VolumeStatus
from shell.productions import page_images, preparation
from shell.volumes import deletion
from shell.volumes.commands import delete_volume
from tests.integration.volumes.volume_requests import (
    CALLER,
    FILES,
    OPT,
    bodies,
    committed,
    drain,
    finish_imports,
    import_rows,
    run,
    state,
    stored,
    upload,
    versions,
)
from tests.support.application.driver import World
from tests.support.productions.final_executions import passing_run
from tests.support.productions.runs import ask, cancel, execute, objects_of, status_of
from tests.support.undo.runs import counts, dump_documents, undo
from tests.support.volumes.stored_files import tiff

WHOLE = {**FILES, "DATA/load.opt": OPT, "IMAGES/1.tif": tiff() + b"old"}
# The first document gets another page, the second one its first.
NEW = {
    "DATA/new.opt": b"A-1,VOL,IMAGES\\new.tif,Y,,,1\r\nA-2,VOL,IMAGES\\2.tif,Y,,,1\r\n",
    "IMAGES/new.tif": tiff() + b"new",
    "IMAGES/2.tif": tiff() + b"two",
}
LEFT = "SELECT (SELECT COUNT(*) FROM page_sets), (SELECT COUNT(*) FROM pages), (SELECT COUNT(*) FROM exhibit_files)"


def import_whole(world: World, files: dict[str, bytes] = WHOLE, **body: Any) -> tuple[int, list[int]]:
    """Import a folder with its images; return the volume's id and those of the imports."""
    volume_id = upload(world, files)
    run(volume_id, **body)
    finish_imports(world)
    rows = import_rows(world, volume_id)
    assert {row["status"] for row in rows} == {"completed"}
    return volume_id, [row["id"] for row in rows]


def overlay_images(world: World) -> tuple[int, int]:
    """Import images that take the place of others; return the ids of their volume and import."""
    volume_id, [import_id] = import_whole(world, NEW, imageLoadFile="DATA/new.opt", options={"mode": "overlay"})
    return volume_id, import_id


def left(world: World) -> tuple[int, int, int]:
    """How many page sets, pages and links to files there are."""
    [row] = world.query(LEFT)
    return tuple(row)


def delete(world: World, volume_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete a volume, in parts of two objects, whose worker has no time for more than one."""
    with monkeypatch.context() as patch:
        patch.setattr("shell.aws.object_versions.PAGE", 2)
        patch.setattr(deletion, "build_deadline_check", lambda _: lambda: True)
        committed(delete_volume, CALLER, volume_id)
        before = len(versions(world, volume_id))
        deletion.delete_volume_part(volume_id)
        assert 0 < len(versions(world, volume_id)) < before
        assert drain(volume_id).status == VolumeStatus.DELETED
    assert (versions(world, volume_id), stored(world, volume_id)) == ({}, [])


def test_a_volume_that_is_undone_leaves_only_its_files_and_these_go_in_parts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(b"Control Number,Title\r\nA-0,There before\r\n", case="Case")
    before = dump_documents(world)
    volume_id, [rows, images] = import_whole(world)
    assert left(world) == (1, 1, 2)
    files = bodies(world, volume_id)
    assert counts(undo(world, images)) == ("undone", 1, 0, 0, 0)
    assert counts(undo(world, rows)) == ("undone", 0, 2, 0, 0)
    assert dump_documents(world) == before
    assert left(world) == (0, 0, 0)
    assert bodies(world, volume_id) == files
    delete(world, volume_id, monkeypatch)


@pytest.mark.slow
def test_images_that_take_the_place_of_others_are_undone_and_their_volume_is_deleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = import_whole(world)
    before, had = dump_documents(world), left(world)
    second, overlay = overlay_images(world)
    assert left(world) == (3, 3, 2)
    assert counts(undo(world, overlay)) == ("undone", 2, 0, 0, 0)
    assert dump_documents(world) == before
    assert left(world) == had
    delete(world, second, monkeypatch)
    assert execute(ask(numbering="page"))["status"] == "confirmed"
    assert state(first).status == VolumeStatus.READY


@pytest.mark.slow
def test_images_whose_numbers_are_reserved_are_produced_although_they_are_undone(world: World) -> None:
    import_whole(world)
    _, overlay = overlay_images(world)
    production = ask(numbering="page")

    def undone(point: Any) -> None:
        if str(point) == "after reserve":
            undo(world, overlay)

    passing_run(production, undone)
    assert status_of(world, production) == "confirmed"
    assert objects_of(world, production)["VOL001/IMAGES/0001/ACME0000001.tif"] == NEW["IMAGES/new.tif"]
    # Those before, and those that were produced.
    assert left(world)[:2] == (3, 3)


@pytest.mark.slow
def test_images_of_a_production_that_is_cancelled_go_with_their_documents(world: World) -> None:
    _, [rows, images] = import_whole(world)
    _, overlay = overlay_images(world)
    production = ask(numbering="page")

    def undone(point: Any) -> None:
        if str(point) == "after reserve":
            undo(world, overlay)
            cancel(production)

    passing_run(production, undone)
    assert (status_of(world, production), left(world)) == ("cancelled", (3, 3, 2))
    for import_id in (images, rows):
        undo(world, import_id)
    assert left(world) == (0, 0, 0)


@pytest.mark.slow
def test_images_that_are_undone_while_they_are_counted_are_not_produced(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_whole(world)
    _, overlay = overlay_images(world)
    plan_images, undone = page_images.plan_images, list[Any]()

    def undo_first(*given: Any) -> Any:
        if not undone:
            undone.append(undo(world, overlay))
        return plan_images(*given)

    monkeypatch.setattr(preparation, "plan_images", undo_first)
    production = ask(numbering="page")
    assert execute(production)["status"] == "confirmed"
    objects = objects_of(world, production)
    images = {path.rpartition("/")[2]: body for path, body in objects.items() if "/IMAGES/" in path}
    assert images == {"ACME0000001.tif": WHOLE["IMAGES/1.tif"]}
