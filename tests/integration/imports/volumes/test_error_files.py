"""The corrected error files of a volume get the volume's files and pages; of no other volume."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from pydantic import ValidationError

from core.caller import Caller
from core.contracts.imports.announcements import NewImport
from core.contracts.paths import StoredPaths
from core.contracts.volumes import VolumeImportRequest
from core.errors import ConflictError, NotFoundError, WrongStateError
from shell.imports.checks.queries import list_findings
from shell.imports.queries import get_import
from shell.imports.uploads import create_import
from shell.volumes.commands import delete_volume
from shell.volumes.queries import get_volume
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World
from tests.support.imports.image_load_files import page_counts
from tests.support.undo.runs import counts, dump_documents, undo
from tests.support.volumes.volume_imports import import_volume, put_volume

DAT, OPT, OTHER = "LOAD/load.csv", "IMG/load.opt", "OTHER/load.csv"
# The second row has no id. Its files are beside the load files, where only rule 5 finds them.
FILES = {
    DAT: b"Control Number,Native Path,Text Path\r\nA-1,1.doc,1.txt\r\n,2.doc,2.txt\r\n",
    OPT: b"A-1,VOL,1.tif,Y,,,1\r\nA-2,VOL,2.tif,Y,,,1\r\n",
    OTHER: b"Control Number\r\nB-1\r\n",
    **{f"LOAD/{name}": name.encode() for name in ("1.doc", "1.txt", "2.doc", "2.txt")},
    **{f"IMG/{name}": name.encode() for name in ("1.tif", "2.tif")},
    "unnamed.txt": b"unnamed",
}
LINKS = (
    "SELECT e.control_number, l.kind, f.path, l.rule FROM exhibit_files l JOIN exhibits e ON e.id = l.exhibit_id "
    "JOIN volume_files f ON f.id = l.file_id ORDER BY 1, 2"
)
STATUS = "SELECT status, failure_code, failure_message, volume_id FROM imports ORDER BY id DESC LIMIT 1"
UNNAMED = [("UNREFERENCED_FILE", path, "", "") for path in (OTHER, "unnamed.txt")]
FOUND = [
    ("A-1", "native", "LOAD/1.doc", 5),
    ("A-1", "text", "LOAD/1.txt", 5),
    ("A-2", "native", "LOAD/2.doc", 5),
    ("A-2", "text", "LOAD/2.txt", 5),
]


def import_whole(world: World) -> tuple[int, list[dict[str, bytes]]]:
    """Import the volume; return its id, and the reports of the load file and of the image load file."""
    volume_id = put_volume(world, FILES)
    imports = [import_volume(world, volume_id, path) for path in (DAT, OPT)]
    return volume_id, [world.report(import_id) for import_id in imports]


def options_of(report: dict[str, bytes]) -> dict[str, Any]:
    """The options beside an error file."""
    options: dict[str, Any] = json.loads(report["options.json"])
    return options


def announce(options: dict[str, Any]) -> NewImport:
    """The announcement of an error file."""
    return NewImport.model_validate({"case": "Case", "fileName": "r.csv", "options": options})


def correct(report: dict[str, bytes]) -> bytes:
    """The rejected rows with an id."""
    return report["rejected_rows.csv"].replace(b"\r\n,2.doc", b"\r\nA-2,2.doc")


def links(world: World) -> list[tuple[Any, ...]]:
    """All links to files."""
    return [tuple(row) for row in world.query(LINKS)]


def unreferenced(report: dict[str, bytes]) -> list[tuple[str, ...]]:
    """Code, path, line and code of the row, of every file that no accepted row and no page names."""
    listed = csv.DictReader(io.StringIO(report["unreferenced.csv"].decode("utf-8-sig")))
    return [(row["code"], row["path"], row["line"], row["row_code"]) for row in listed]


def test_corrected_rows_of_a_volume_get_their_natives_texts_and_pages(world: World) -> None:
    volume_id, (rows, images) = import_whole(world)
    assert links(world) == FOUND[:2]
    assert page_counts(world) == {"A-1": 1}
    import_id = world.run(correct(rows), name="rejected_rows.csv", **options_of(rows))
    assert links(world) == FOUND
    # One options file is enough for both error files.
    again = world.run(images["rejected_rows.opt"], name="rejected_rows.opt", **options_of(rows))
    assert page_counts(world) == {"A-1": 1, "A-2": 1}
    assert [(each.id, each.path) for each in get_volume(CALLER, volume_id).imports[:2]] == [
        (again, "rejected_rows.opt"),
        (import_id, "rejected_rows.csv"),
    ]
    # The other files are named by the imports before.
    assert unreferenced(world.report(again)) == UNNAMED
    assert options_of(world.report(import_id))["volume"] == options_of(rows)["volume"]


def test_an_error_file_without_its_options_gets_no_files(world: World) -> None:
    _, (rows, _) = import_whole(world)
    world.run(correct(rows), **{name: value for name, value in options_of(rows).items() if name != "volume"})
    assert links(world) == FOUND[:2]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_load_file_alone_says_once_that_it_stores_paths_and_links_no_file(world: World, dry_run: bool) -> None:
    rows = b"Control Number,Native Path,Text Path\nA-1,1.doc,1.txt\nA-2,,2.txt\nA-3,,\n"
    found = get_import(CALLER, world.run(rows, dry_run=dry_run))
    assert (found.stored_paths, found.files) == (StoredPaths(natives=1, texts=2), None)
    for quiet in (b"Control Number,Title\nB-1,x\n", b"Control Number,Native Path\nC-1,\n"):
        assert get_import(CALLER, world.run(quiet, dry_run=dry_run)).stored_paths is None
    volume_id = put_volume(world, FILES)
    found = get_import(CALLER, import_volume(world, volume_id, DAT, mode="append_overlay"))
    assert (found.stored_paths, found.files and found.files.natives_linked) == (None, 1)


def test_the_check_of_an_error_file_finds_what_its_volume_lacks(world: World) -> None:
    _, (rows, _) = import_whole(world)
    data = correct(rows).replace(b"2.txt", b"gone.txt")
    import_id = world.run(data, dry_run=True, **options_of(rows))
    listed = list_findings(CALLER, import_id, None, 100, None).items
    assert [(each.code, each.column) for each in listed if each.code.endswith("MISSING")] == [
        ("TEXT_MISSING", "Text Path")
    ]
    assert links(world) == FOUND[:2]


def test_the_undo_of_an_error_file_takes_its_documents_and_their_files(world: World) -> None:
    volume_id, (rows, images) = import_whole(world)
    before = dump_documents(world), links(world)
    made = [
        world.run(data, name=name, **options_of(rows))
        for name, data in (("r.csv", correct(rows)), ("r.opt", images["rejected_rows.opt"]))
    ]
    with pytest.raises(ConflictError, match=f"Import {made[1]}"):
        undo(world, made[0])
    for import_id in reversed(made):
        assert counts(undo(world, import_id))[0] == "undone"
    assert (dump_documents(world), links(world)) == before
    with pytest.raises(WrongStateError, match="needs the files"):
        committed(delete_volume, CALLER, volume_id)


def test_files_that_only_undone_imports_name_are_unreferenced(world: World) -> None:
    volume_id, (rows, images) = import_whole(world)
    corrected = world.run(correct(rows), name="r.csv", **options_of(rows))
    undo(world, corrected)
    # The last import of the load file is not the one that counts if it was undone, too.
    undo(world, import_volume(world, volume_id, DAT))
    again = world.run(images["rejected_rows.opt"], name="rejected_rows.opt", **options_of(rows))
    found = {path for _, path, _, _ in unreferenced(world.report(again))}
    assert {path for path in found if path.startswith("LOAD/")} == {"LOAD/2.doc", "LOAD/2.txt"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("UPDATE volumes SET status = 'deleted'", "are deleted"),
        ("UPDATE volumes SET status = 'expanding'", "wait until it is ready."),
        ("UPDATE volumes SET tenant_id = 'other'", "The case has no volume"),
        ("UPDATE volumes SET case_id = case_id + 1", "The case has no volume"),
    ],
)
def test_a_volume_that_cannot_be_used_refuses_the_error_file(world: World, change: str, expected: str) -> None:
    _, (rows, _) = import_whole(world)
    world.query(change)
    options = options_of(rows)
    world.run(correct(rows), **options)
    (found,) = world.query(STATUS)
    assert (found.status, found.failure_code, found.volume_id) == ("failed", "BAD_OPTIONS", None)
    assert expected.lower() in found.failure_message.lower()
    with pytest.raises((NotFoundError, WrongStateError), match=expected):
        committed(create_import, CALLER, announce(options))


def test_the_api_takes_the_options_unchanged_and_no_stranger_s(world: World) -> None:
    _, (rows, _) = import_whole(world)
    announced = announce(options_of(rows))
    made = committed(create_import, CALLER, announced)
    (stored,) = world.query("SELECT options FROM imports WHERE id = :id", id=made.id)
    assert json.loads(stored.options)["volume"] == options_of(rows)["volume"]
    with pytest.raises(NotFoundError):
        committed(create_import, Caller("other", "eve"), announced)
    with pytest.raises(ValidationError, match=r"options.volume\n.*not permitted"):
        VolumeImportRequest.model_validate({"options": options_of(rows)})
