"""Files whose paths lack a beginning are found by column, folder or option, or it is said where they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from core.contracts.paths import PathFigures
from shell.db.session import engine
from shell.imports.queries import get_import
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import World, complete_imports
from tests.support.undo.runs import undo
from tests.support.volumes.volume_imports import import_volume, put_volume

DAT, OPT = "load.dat", "load.opt"
ROWS = (r"A-1,NATIVES\1.doc,TEXT\1.txt", r"A-2,natives\2.DOC,TEXT\gone.txt", r"A-3,NATIVES\3.doc,")
PAGES = ("A-1,VC01,IMAGES\\1.tif,Y,,,1", "A-2,@VC02,IMAGES\\1.tif,Y,,,2", "A-2.2,VC02,images\\2.TIF,,,,")
VOLUME = ("VC01/NATIVES/1.doc", "VC01/NATIVES/2.doc", "VC02/NATIVES/3.doc", "VC01/TEXT/1.txt")
IMAGES = ("VC01/IMAGES/1.tif", "VC02/IMAGES/1.tif", "VC02/IMAGES/2.tif")


def load(*rows: str) -> bytes:
    """A load file with these lines."""
    return "\r\n".join(("Control Number,Native Link,Text Link", *rows, "")).encode()


def put(world: World, *paths: str, rows: tuple[str, ...] = ROWS, load_file: str = DAT) -> int:
    """A volume with these files and both load files."""
    files = {path: path.encode() for path in paths}
    return put_volume(world, {**files, load_file: load(*rows), OPT: "\r\n".join((*PAGES, "")).encode()})


def links(world: World) -> list[tuple[Any, ...]]:
    rows = world.query(
        "SELECT e.control_number, l.kind, f.path, l.rule FROM exhibit_files l JOIN exhibits e ON e.id = l.exhibit_id "
        "JOIN volume_files f ON f.id = l.file_id ORDER BY l.import_id, 1, 2"
    )
    return [tuple(row) for row in rows]


def messages(world: World, table: str = "import_warnings") -> list[tuple[Any, ...]]:
    rows = world.query(f"SELECT line_no, code, message FROM {table} WHERE line_no > 0 ORDER BY line_no, seq")
    return [tuple(row) for row in rows]


def figures(import_id: int) -> dict[str, PathFigures]:
    """How the paths of an import were found, by kind."""
    complete_imports()
    files = get_import(CALLER, import_id).files
    return {each.kind: each for each in (files and files.paths) or []}


def by_rule(found: PathFigures) -> list[tuple[int, int, str]]:
    return [(each.rule, each.files, each.file) for each in found.found_by_rule]


def test_natives_and_texts_are_found_below_folders_beside_the_load_file(world: World) -> None:
    volume = put(world, *VOLUME)
    checked = import_volume(world, volume, DAT, dry_run=True)
    of_check = figures(checked)
    [(code, said)] = world.query("SELECT code, message FROM import_check_findings WHERE import_id = :i", i=checked)
    imported = import_volume(world, volume, DAT)
    assert links(world) == [
        ("A-1", "native", "VC01/NATIVES/1.doc", 9),
        ("A-1", "text", "VC01/TEXT/1.txt", 9),
        ("A-2", "native", "VC01/NATIVES/2.doc", 9),
        ("A-3", "native", "VC02/NATIVES/3.doc", 9),
    ]
    assert messages(world) == [(3, code, said)]
    assert (code, "'TEXT\\gone.txt'" in said) == ("TEXT_MISSING", True)
    assert figures(imported) == of_check
    assert by_rule(of_check["native"]) == [(9, 3, "VC01/NATIVES/1.doc")]
    assert (of_check["text"].missing, of_check["text"].first_missing) == (1, r"TEXT\gone.txt")


def test_images_are_found_below_the_folder_of_the_volume_column(world: World) -> None:
    volume = put(world, *VOLUME, *IMAGES)
    import_volume(world, volume, DAT)
    checked = import_volume(world, volume, OPT, dry_run=True)
    imported = import_volume(world, volume, OPT)
    pages = world.query(
        "SELECT p.image_key, f.path FROM pages p JOIN volume_files f ON f.id = p.file_id ORDER BY p.image_key"
    )
    assert [tuple(row) for row in pages] == [
        ("A-1", "VC01/IMAGES/1.tif"),
        ("A-2", "VC02/IMAGES/1.tif"),
        ("A-2.2", "VC02/IMAGES/2.tif"),
    ]
    assert by_rule(figures(imported)["image"]) == [(8, 3, "VC01/IMAGES/1.tif")]
    assert figures(checked) == figures(imported)


def test_a_path_that_two_folders_beside_have_finds_neither(world: World) -> None:
    volume = put(world, "VC01/NATIVES/1.doc", "VC02/NATIVES/1.doc", rows=(r"A-1,NATIVES\1.doc,",))
    checked = import_volume(world, volume, DAT, dry_run=True)
    import_volume(world, volume, DAT)
    assert links(world) == []
    [(line, code, said)] = messages(world)
    assert (line, code) == (2, "PATH_AMBIGUOUS")
    assert "'VC01/NATIVES/1.doc' and 'VC02/NATIVES/1.doc'" in said
    assert [tuple(row) for row in world.query("SELECT line_no, code, message FROM import_check_findings")] == [
        (2, "PATH_AMBIGUOUS", said)
    ]
    assert checked


def test_a_file_at_the_path_comes_before_every_guess(world: World) -> None:
    volume = put(world, "NATIVES/1.doc", "VC01/NATIVES/1.doc", rows=(r"A-1,NATIVES\1.doc,",))
    import_volume(world, volume, DAT)
    assert links(world) == [("A-1", "native", "NATIVES/1.doc", 3)]


@pytest.mark.parametrize("refused", ["", "D:\\export\\"])
def test_a_column_whose_files_are_all_missing_names_the_options_that_find_them(world: World, refused: str) -> None:
    rows = tuple(rf"A-{number},{refused}OLD\NATIVES\{number}.doc," for number in (1, 2, 3))
    files = [f"delivery/VC01/NATIVES/{number}.doc" for number in (1, 2, 3)]
    volume = put(world, *files, rows=rows)
    checked, first = (import_volume(world, volume, DAT, dry_run=dry_run) for dry_run in (True, False))
    found = figures(first)["native"]
    assert (links(world), figures(checked)["native"]) == ([], found)
    assert (found.found, found.missing, found.elsewhere) == (0, 3, 3)
    assert found.advice is not None
    assert (found.advice.strip_prefix, found.advice.add_prefix) == (f"{refused}OLD", "delivery/VC01")
    assert found.advice.files == 3
    if not refused:
        assert all("One of its name is 'delivery/VC01/NATIVES/" in said for _, _, said in messages(world))
    options = {"strip_prefix": found.advice.strip_prefix, "add_prefix": found.advice.add_prefix}
    again = import_volume(world, volume, DAT, mode="append_overlay", **options)
    assert [each[2:] for each in links(world)] == [(path, 7) for path in files]
    assert by_rule(figures(again)["native"]) == [(7, 3, files[0])]
    undo(world, again)
    assert links(world) == []


def test_the_path_of_the_load_file_is_in_every_warning(world: World) -> None:
    long = "NATIVES\\" + "x" * 300
    import_volume(world, put(world, rows=(rf"A-1,{long},..\é.txt",)), DAT)
    rows = world.query("SELECT message, original FROM import_warnings ORDER BY seq")
    assert [row.original.decode() for row in rows] == [long, "..\\é.txt"]
    assert rows[0].message.startswith("'NATIVES\\" + "x" * 192 + "...': ")
    assert rows[1].message.startswith("'..\\é.txt': ")


def test_of_several_prefixes_each_path_loses_its_own(world: World) -> None:
    rows = (r"A-1,D:\one\NATIVES\1.doc,", r"A-2,\\srv\two\NATIVES\2.doc,")
    volume = put(world, "NATIVES/1.doc", "NATIVES/2.doc", rows=rows)
    import_id = import_volume(world, volume, DAT, strip_prefix=["D:\\one", "//SRV/two"])
    assert links(world) == [("A-1", "native", "NATIVES/1.doc", 2), ("A-2", "native", "NATIVES/2.doc", 2)]
    assert figures(import_id)["native"].missing == 0


def test_a_volume_that_an_earlier_version_listed_has_no_guesses(world: World) -> None:
    volume = put(world, *VOLUME)
    world.query("UPDATE volumes SET folders = NULL")
    world.query("UPDATE volume_files SET name_hash = NULL")
    import_id = import_volume(world, volume, DAT)
    assert links(world) == []
    assert figures(import_id)["native"].elsewhere == 0


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that read files of volumes."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FROM volume_files" in statement:
            statements.append(statement)

    event.listen(engine(), "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine(), "before_cursor_execute", note)


@pytest.mark.parametrize("rows", [1, 40])
def test_a_chunk_looks_up_files_in_a_constant_number_of_statements(world: World, rows: int) -> None:
    lines = [rf"A-{number},NATIVES\{number}.doc,TEXT\{number}.txt" for number in range(rows)]
    volume = put(world, "VC01/NATIVES/0.doc", "VC01/x/TEXT/0.txt", rows=tuple(lines))
    with counted() as statements:
        import_volume(world, volume, DAT)
    lookups = [each for each in statements if "name_hash" in each or "sha256" in each]
    assert len(lookups) == 3
