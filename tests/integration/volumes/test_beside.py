"""Volumes whose load files lie beside the folder that their paths start from, as folder and as zip, to the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.integration.volumes.volume_requests import build_zip, finish_imports, run, state, upload, upload_zip
from tests.support.application.driver import World

FILES = {
    "load.dat": b"Control Number,Native Path\r\nA-1,NATIVES\\1.txt\r\nA-2,NATIVES\\2.txt\r\n",
    "load.opt": b"A-1,VC01,IMAGES\\1.tif,Y,,,1\r\nA-2,VC02,IMAGES\\1.tif,Y,,,1\r\n",
    **{path: path.encode() for path in ("VC01/IMAGES/1.tif", "VC02/IMAGES/1.tif")},
    **{path: path.encode() for path in ("VC01/NATIVES/1.txt", "VC02/NATIVES/2.txt")},
}
Upload = Callable[[World, Mapping[str, bytes]], int]


def found(world: World) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The natives and the pages of the documents."""
    natives = world.query(
        "SELECT f.path, l.rule FROM exhibit_files l JOIN volume_files f ON f.id = l.file_id ORDER BY l.exhibit_id"
    )
    pages = world.query("SELECT f.path FROM pages p JOIN volume_files f ON f.id = p.file_id ORDER BY p.image_key")
    return [tuple(row) for row in natives], [tuple(row) for row in pages]


def upload_as_zip(world: World, files: Mapping[str, bytes]) -> int:
    return upload_zip(world, build_zip(files))


@pytest.mark.parametrize("send", [upload, upload_as_zip])
def test_natives_and_images_are_found_below_the_folders_beside_the_load_files(world: World, send: Upload) -> None:
    volume_id = send(world, FILES)
    run(volume_id)
    finish_imports(world)
    assert found(world) == (
        [("VC01/NATIVES/1.txt", 9), ("VC02/NATIVES/2.txt", 9)],
        [("VC01/IMAGES/1.tif",), ("VC02/IMAGES/1.tif",)],
    )
    assert len(state(volume_id).imports) == 2
    assert world.query("SELECT COUNT(*) FROM import_warnings") == [(0,)]


def test_the_folders_of_a_load_file_stay_known_when_another_one_is_imported(world: World) -> None:
    other = {"VC01/LOAD/DATA/other.dat": b"Control Number,Native Path\r\nB-1,1.txt\r\n"}
    volume_id = upload(world, {**FILES, **other})
    run(volume_id, loadFile="load.dat", imageLoadFile="load.opt")
    finish_imports(world)
    run(volume_id, loadFile="VC01/LOAD/DATA/other.dat", imageLoadFile="load.opt", options={"addPrefix": "VC01/NATIVES"})
    finish_imports(world)
    assert found(world)[0] == [
        ("VC01/NATIVES/1.txt", 9),
        ("VC02/NATIVES/2.txt", 9),
        ("VC01/NATIVES/1.txt", 7),
    ]
    [(folders,)] = world.query("SELECT folders FROM volumes WHERE id = :id", id=volume_id)
    assert '"": ["VC01", "VC02"]' in folders
    assert '"VC01/LOAD": ["DATA"]' in folders
