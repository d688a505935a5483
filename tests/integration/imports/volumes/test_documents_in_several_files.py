"""Documents that several image load files of a volume name, and files that none of them names."""

from __future__ import annotations

import json

import pytest

from shell.imports.queries import get_import
from tests.integration.imports.import_requests import CALLER
from tests.integration.imports.volumes.several_files import (
    DATA,
    FILES,
    ONE,
    THREE,
    TWO,
    image_file,
    run,
)
from tests.support.application.driver import World
from tests.support.volumes.paired_imports import DAT_PATH

# A1 is in three files: the second has the same pages, the third another one.
REPEATED = {DAT_PATH: DATA, ONE: FILES[ONE], TWO: image_file("A3*", "A4", "A1*", "A2"), THREE: image_file("A5*", "A1*")}
OVERLAY = '{"mode": "append_overlay"}'


def has_result(world: World, import_id: int, *, check: bool) -> tuple[int, ...]:
    """Documents that are or would be imported, updated, unchanged, rejected."""
    columns, table, key = "imported, updated, unchanged, rejected", "imports", "id"
    if check:
        columns, table, key = "would_import, would_update, unchanged, would_reject", "import_checks", "import_id"
    return tuple(world.query(f"SELECT {columns} FROM {table} WHERE {key} = :i", i=import_id)[0])


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("options", ["{}", OVERLAY])
def test_check_and_import_agree_about_a_document_in_several_files(world: World, options: str, check: bool) -> None:
    ids = run(world, REPEATED, check=check, options=options)
    is_overlay = options == OVERLAY
    assert [has_result(world, each, check=check) for each in ids[1:]] == [
        (1, 0, 0, 0),
        (1, 0, 1, 0),
        (1, 1, 0, 0) if is_overlay else (1, 0, 0, 1),
    ]
    code = "PAGES_REPLACED" if is_overlay else "HAS_PAGES"
    written = "import_warnings" if is_overlay else "import_rejections"
    table = "import_check_findings" if check else written
    query = f"SELECT import_id, line_no, message FROM {table} WHERE code = :code"
    [(import_id, line_no, message)] = world.query(query, code=code)
    assert (import_id, line_no) == (ids[3], 2)
    assert f" of line 1 of '{ONE}' (import {ids[1]})" in message
    pages = [get_import(CALLER, each).pages for each in ids[1:]]
    expected = [(2, 1, 0), (2, 2, 0), (2, 2, 0) if is_overlay else (1, 1, 1)]
    assert [(each.imported, each.documents, each.rejected) for each in pages if each] == expected


def test_what_any_of_the_files_names_is_not_unreferenced(world: World) -> None:
    images = {f"IMAGES/A{number}.tif": b"image" for number in range(1, 8)}
    ids = run(world, {**FILES, **images})
    for each in ids:
        world.report(each)
    listed = world.query("SELECT counts FROM import_chunk_files WHERE import_id = :i AND chunk_no = 0", i=ids[3])
    # A6 has no page, and A7 is of no document.
    assert json.loads(listed[0][0])["unreferenced"] == 2
