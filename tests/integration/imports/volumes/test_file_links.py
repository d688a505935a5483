"""Which files of a volume the documents of its load file have, and what is said of those that it lacks."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

import write_import_report
from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.exhibits import ExhibitChange
from core.volumes.referenced import ReferencedFiles
from shell.exhibits.commands import patch_exhibit
from shell.exhibits.listing import list_exhibits
from shell.imports.checks.queries import list_findings
from shell.imports.queries import get_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World, call, complete_imports
from tests.support.undo.runs import dump_documents, undo
from tests.support.volumes.volume_imports import import_volume, put_volume, start_volume_import

DAT = "DATA/load.csv"
PATH = r"NATIVES\0001\A-1.docx"
FILES = {"NATIVES/0001/A-1.docx": b"one", "TEXT/A-1.txt": b"first", "TEXT/A-2.TXT": b"second", "NATIVES/empty.msg": b""}


def load(*rows: str, columns: str = "Control Number,Native Link,Text Link") -> bytes:
    """A load file with these lines."""
    return "\r\n".join((columns, *rows, "")).encode()


def links(world: World) -> list[tuple[Any, ...]]:
    """Control number, kind, path of the file and rule, of every link, the latest last."""
    rows = world.query(
        "SELECT e.control_number, l.kind, f.path, l.rule FROM exhibit_files l JOIN exhibits e ON e.id = l.exhibit_id "
        "JOIN volume_files f ON f.id = l.file_id ORDER BY l.import_id, 1, 2"
    )
    return [tuple(row) for row in rows]


def found(world: World, table: str = "import_warnings") -> list[tuple[Any, ...]]:
    """Line, code and column of every warning or rejection."""
    return [tuple(row) for row in world.query(f"SELECT line_no, code, column_name FROM {table} ORDER BY 1, seq")]


def counts(world: World, import_id: int) -> dict[str, int]:
    """What the chunks of an import counted of files, together."""
    total: dict[str, int] = {}
    for (stored,) in world.query("SELECT counts FROM import_chunk_files WHERE import_id = :i", i=import_id):
        for name, count in json.loads(stored).items():
            total[name] = total.get(name, 0) + count
    return total


def test_paths_are_linked_by_the_first_rule_that_matches(world: World) -> None:
    rows = (r"A-1,.\NATIVES\0001\A-1.docx,\VOL001\TEXT\A-1.txt", r"A-2,,TEXT\a-2.txt", "A-3,,")
    volume = put_volume(world, {**FILES, DAT: load(*rows)})
    import_id = import_volume(world, volume, DAT)
    assert links(world) == [
        ("A-1", "native", "NATIVES/0001/A-1.docx", 3),
        ("A-1", "text", "TEXT/A-1.txt", 4),
        ("A-2", "text", "TEXT/A-2.TXT", 6),
    ]
    assert counts(world, import_id) == {"natives_linked": 1, "texts_linked": 2}
    [(named,)] = world.query("SELECT referenced FROM import_chunk_files WHERE chunk_no > 0")
    paths = [row[0] for row in world.query("SELECT path FROM volume_files ORDER BY file_no")]
    assert [paths[each] for each in ReferencedFiles.from_bytes(named).list_missing(len(paths))] == [
        DAT,
        "NATIVES/empty.msg",
    ]


def test_a_document_whose_native_is_missing_has_none(world: World) -> None:
    rows = (r"A-1,NATIVES\0001\A-1.docx,TEXT\A-1.txt", r"A-2,NATIVES\gone.docx,TEXT\A-2.txt", "A-3,,")
    volume = put_volume(world, {**FILES, DAT: load(*rows)})
    import_volume(world, volume, DAT)
    world.run(load("B-1,anywhere.docx,"))
    # A path that came without a volume says where the file is, and nothing can be missing.
    assert (listed(hasNative=True), listed(hasNative=False)) == (["A-1", "B-1"], ["A-2", "A-3"])
    assert (listed(hasText=True), listed(hasText=False)) == (["A-1", "A-2"], ["A-3", "B-1"])


def listed(**query: bool) -> list[str]:
    """The control numbers of the documents that a query finds."""
    items = list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", **query})).items
    return [each.control_number for each in items]


def test_a_path_that_came_later_decides_whether_a_document_has_a_native(world: World) -> None:
    import_volume(world, put_volume(world, {**FILES, DAT: load(rf"A-1,{PATH},")}), DAT)
    world.run(load("A-1,loose.doc,"), mode="overlay")
    assert listed(hasNative=True) == ["A-1"], "no volume was to have loose.doc"
    world.run(load("A-2,,", rf"A-3,{PATH},"))
    rows = load(r"A-2,NATIVES\gone.docx,", rf"A-3,{PATH},")
    overlay = import_volume(world, put_volume(world, {DAT: rows}), DAT, mode="append_overlay")
    assert (listed(hasNative=True), listed(hasNative=False)) == (["A-1"], ["A-2", "A-3"])
    undo(world, overlay)
    assert (listed(hasNative=True), listed(hasNative=False)) == (["A-1", "A-3"], ["A-2"])


@pytest.mark.parametrize("mode", ["append", "overlay"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_document_has_a_native_if_one_of_its_volumes_has_it(world: World, mode: str, is_first: bool) -> None:
    data = load(rf"A-1,{PATH},")
    volumes = [put_volume(world, {**(FILES if has else {}), DAT: data}) for has in (is_first, not is_first)]
    first, second = (
        import_volume(world, volume, DAT, mode=mode if n else "append") for n, volume in enumerate(volumes)
    )
    assert world.query("SELECT unchanged FROM imports WHERE id = :i", i=second) == [(1,)]
    assert (listed(hasNative=True), [each[:2] for each in links(world)]) == (["A-1"], [("A-1", "native")])
    undo(world, second)
    assert listed(hasNative=is_first) == ["A-1"]
    assert world.query("SELECT import_id, file_id > 0 FROM exhibit_files") == [(first, is_first)]


def test_files_that_are_missing_refused_or_empty_are_warnings(world: World) -> None:
    rows = (r"A-1,NATIVES\gone.docx,..\secret.txt", r"A-2,NATIVES\empty.msg,TEXT\A-2.TXT")
    volume = put_volume(world, {**FILES, DAT: load(*rows)})
    import_id = import_volume(world, volume, DAT)
    assert found(world) == [
        (2, "NATIVE_MISSING", "Native Link"),
        (2, "PATH_REFUSED", "Text Link"),
        (3, "FILE_EMPTY", "Native Link"),
    ]
    linked = {"natives_linked": 1, "texts_linked": 1}
    assert counts(world, import_id) == {"natives_missing": 1, "texts_missing": 1, **linked}


def test_a_row_without_its_file_is_rejected_if_it_is_to_be(world: World) -> None:
    volume = put_volume(world, {**FILES, DAT: load(r"A-1,NATIVES\gone.docx,", r"A-2,,TEXT\A-2.TXT")})
    import_volume(world, volume, DAT, missing_files="reject")
    assert found(world, "import_rejections") == [(2, "NATIVE_MISSING", "Native Link")]
    assert links(world) == [("A-2", "text", "TEXT/A-2.TXT", 3)]


@pytest.mark.parametrize(
    ("given", "status", "severity"), [("reject", "errors", "error"), ("warn", "warnings", "warning")]
)
def test_the_check_says_whether_a_row_without_its_file_would_be_rejected(
    world: World, given: str, status: str, severity: str
) -> None:
    volume = put_volume(world, {**FILES, DAT: load(r"A-1,NATIVES\gone.docx,", r"A-2,,TEXT\A-2.TXT")})
    import_id = import_volume(world, volume, DAT, missing_files=given, dry_run=True)
    complete_imports()
    check = get_import(CALLER, import_id).check
    assert check is not None
    assert (check.status, check.would_reject) == (status, int(given == "reject"))
    [finding] = list_findings(CALLER, import_id, "NATIVE_MISSING", 10, None).items
    assert (finding.severity, finding.line) == (severity, 2)
    assert call(
        write_import_report.lambda_handler, {"eventType": "import.checked", "importId": import_id, "generation": 1}
    )
    assert f"NATIVE_MISSING,{severity},2,".encode() in world.report(import_id)["findings.csv"]


def test_a_prefix_that_precedes_the_folders_is_stripped(world: World) -> None:
    volume = put_volume(world, {**FILES, DAT: load(r"A-1,\\server\share\NATIVES\0001\A-1.docx,")})
    import_volume(world, volume, DAT, strip_prefix="//SERVER/share")
    assert links(world) == [("A-1", "native", "NATIVES/0001/A-1.docx", 2)]


def test_a_hash_that_is_not_the_files_is_a_warning(world: World) -> None:
    right, wrong = hashlib.md5(b"one", usedforsecurity=False).hexdigest().upper(), "0" * 64
    columns = "Control Number,Native Link,MD5 Hash,SHA256"
    rows = (rf"A-1,NATIVES\0001\A-1.docx,{right},{wrong}", rf"A-2,,{wrong[:32]},")
    volume = put_volume(world, {**FILES, DAT: load(*rows, columns=columns)}, hashed=True)
    import_id = import_volume(world, volume, DAT)
    assert found(world) == [(2, "HASH_MISMATCH", "SHA256")]
    assert counts(world, import_id)["hash_mismatches"] == 1


@pytest.mark.parametrize("hashed", [False, True])
def test_hashes_that_were_not_compared_are_counted_and_no_mismatch_is_known(world: World, hashed: bool) -> None:
    right = hashlib.md5(b"one", usedforsecurity=False).hexdigest()
    rows = (rf"A-1,NATIVES\0001\A-1.docx,{right},", rf"A-2,,{right},", rf"A-3,NATIVES\gone.docx,{right},")
    columns = "Control Number,Native Link,MD5 Hash,SHA256"
    volume = put_volume(world, {**FILES, DAT: load(*rows, columns=columns)}, hashed=hashed)
    files = get_import(CALLER, import_volume(world, volume, DAT)).files
    assert files is not None
    compared = (files.hash_mismatches, [(each.column, each.hashes) for each in files.hashes_not_compared])
    assert compared == ((0, []) if hashed else (None, [("MD5 Hash", 1)]))


@pytest.mark.parametrize("mode", ["append", "overlay"])
def test_a_check_counts_the_same_and_links_nothing(world: World, mode: str) -> None:
    rows = (r"A-1,NATIVES\gone.docx,TEXT\A-1.txt", r"A-2,,TEXT\A-2.TXT")
    volume = put_volume(world, {**FILES, DAT: load(*rows)})
    if mode == "overlay":
        world.run(b"Control Number\r\nA-1\r\nA-2\r\n")
    checked = import_volume(world, volume, DAT, dry_run=True, mode=mode)
    assert links(world) == []
    codes = world.query("SELECT line_no, code FROM import_check_findings WHERE import_id = :i", i=checked)
    assert [tuple(row) for row in codes] == [(2, "NATIVE_MISSING")]
    imported = import_volume(world, volume, DAT, mode=mode)
    assert counts(world, checked) == counts(world, imported) == {"natives_missing": 1, "texts_linked": 2}


def test_chunks_in_any_order_and_repeated_link_once(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    rows = [rf"A-{number},,TEXT\A-{number % 2 + 1}.txt" for number in range(9)]
    volume = put_volume(world, {**FILES, DAT: load(*rows)})
    import_id = start_volume_import(world, volume, DAT)
    for message in [*reversed(world.chunk_messages())] * 2:
        assert world.import_chunk(message)
    assert [row[0] for row in links(world)] == [f"A-{number}" for number in range(9)]
    assert counts(world, import_id) == {"texts_linked": 9}


def test_an_undo_takes_the_links_back(world: World) -> None:
    first = put_volume(world, {**FILES, DAT: load(r"A-1,,TEXT\A-1.txt", r"A-2,,TEXT\A-2.TXT")})
    created = import_volume(world, first, DAT)
    before, linked = dump_documents(world), links(world)
    second = put_volume(world, {**FILES, DAT: load(r"A-1,NATIVES\0001\A-1.docx,TEXT\A-1.txt", r"A-2,,TEXT\A-2.TXT")})
    overlay = import_volume(world, second, DAT, mode="overlay")
    # The unchanged document has its file from the second volume, too.
    assert len(links(world)) == len(linked) + 3
    undo(world, overlay)
    assert (dump_documents(world), links(world)) == (before, linked)
    undo(world, created)
    assert (world.query("SELECT COUNT(*) FROM exhibits"), links(world)) == ([(0,)], [])


def test_an_unchanged_document_gets_the_files_that_it_lacks_and_keeps_those_that_it_has(world: World) -> None:
    data = load(r"A-1,,TEXT\A-1.txt", r"A-2,,TEXT\A-2.TXT")
    world.run(data)
    assert links(world) == []
    for _ in range(2):
        made = import_volume(world, put_volume(world, {**FILES, DAT: data}), DAT)
        assert world.query("SELECT unchanged FROM imports WHERE id = :i", i=made) == [(2,)]
        assert counts(world, made)["texts_linked"] == 2
        assert [each[:3] for each in links(world)] == [("A-1", "text", "TEXT/A-1.txt"), ("A-2", "text", "TEXT/A-2.TXT")]


def test_a_document_that_an_undo_keeps_has_its_files(world: World) -> None:
    volume = put_volume(world, {**FILES, DAT: load(r"A-1,,TEXT\A-1.txt", r"A-2,,TEXT\A-2.TXT")})
    created = import_volume(world, volume, DAT)
    [(kept, version)] = world.query("SELECT id, version FROM exhibits WHERE control_number = 'A-1'")
    committed(patch_exhibit, CALLER, kept, {version}, ExhibitChange.model_validate({"title": "Kept"}))
    undo(world, created)
    assert world.query("SELECT control_number FROM exhibits") == [("A-1",)]
    assert world.query("SELECT exhibit_id, kind FROM exhibit_files") == [(kept, "text")]


@pytest.mark.parametrize(
    ("before", "edits", "is_kept"),
    [(PATH, [{"title": "Kept"}], False), (r"NATIVES\empty.msg", [{"nativePath": "Q"}, {"nativePath": PATH}], True)],
)
def test_an_undo_keeps_the_files_of_a_path_that_it_keeps_and_no_others(
    world: World, before: str, edits: list[dict[str, str]], is_kept: bool
) -> None:
    columns = "Control Number,Native Link,Title"
    rows = (f"A-1,{before},Letter", f"A-1,{PATH},Letter again")
    first, second = (put_volume(world, {**FILES, DAT: load(row, columns=columns)}) for row in rows)
    import_volume(world, first, DAT)
    overlaying = import_volume(world, second, DAT, mode="overlay")
    for edit in edits:
        [(exhibit, version)] = world.query("SELECT id, version FROM exhibits")
        committed(patch_exhibit, CALLER, exhibit, {version}, ExhibitChange.model_validate(edit))
    undo(world, overlaying)
    linked = "SELECT f.volume_id FROM exhibit_files l JOIN volume_files f ON f.id = l.file_id ORDER BY 1"
    assert world.query(linked) == [(first,), (second,)][: 1 + is_kept]


def test_a_path_that_a_user_changed_has_no_link(world: World) -> None:
    volume = put_volume(world, {**FILES, DAT: load(r"A-1,,TEXT\A-1.txt")})
    import_volume(world, volume, DAT)
    [(exhibit, version, before)] = world.query(
        "SELECT e.id, e.version, l.text_hash = LEFT(UNHEX(SHA2(e.text_path, 256)), 16) "
        "FROM exhibits e JOIN exhibit_files l ON l.exhibit_id = e.id"
    )
    committed(patch_exhibit, CALLER, exhibit, {version}, ExhibitChange.model_validate({"textPath": "other.txt"}))
    after = world.query(
        "SELECT l.text_hash = LEFT(UNHEX(SHA2(e.text_path, 256)), 16) FROM exhibits e JOIN exhibit_files l "
        "ON l.exhibit_id = e.id"
    )
    assert (before, after) == (1, [(0,)])
