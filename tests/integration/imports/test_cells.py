"""Cells as people and programs write them, from the upload to the case: imported, checked, overlaid, imported again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.load_file.layout import Layout
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World
from tests.support.undo.runs import counts, dump_documents, undo

HEADER = "Control Number,Title,Custodian\r\n"
OVERLAY: dict[str, Any] = {"mode": "overlay"}


def run(world: World, text: str, **options: Any) -> int:
    """Import a file of these rows."""
    return world.run((HEADER + text).encode(), **options)


def list_results(world: World, import_id: int) -> list[tuple[Any, ...]]:
    """The counts of rows of an import."""
    sql = "SELECT rows_seen, imported, unchanged, updated, rejected, warnings FROM imports WHERE id = :i"
    return [tuple(row) for row in world.query(sql, i=import_id)]


def list_messages(world: World, table: str, import_id: int) -> list[tuple[int, str, str]]:
    """Line, code and message of the rejections or warnings of an import."""
    sql = f"SELECT line_no, code, message FROM {table} WHERE import_id = :i ORDER BY line_no, seq"
    return [tuple(row) for row in world.query(sql, i=import_id)]


def list_findings(world: World, import_id: int) -> list[tuple[int, str]]:
    """Line and code of the findings of a check."""
    sql = "SELECT line_no, code FROM import_check_findings WHERE import_id = :i ORDER BY line_no, seq"
    return [(row.line_no, row.code) for row in world.query(sql, i=import_id)]


def list_ids(world: World) -> list[str]:
    """The control numbers of all documents."""
    return [row[0] for row in world.query("SELECT control_number FROM exhibits ORDER BY id")]


def test_blank_rows_and_the_end_of_a_file_are_counted_in_one_warning_each(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    text = "A1,x,Ann\r\n,,\r\n,,\r\nA2,y,Ben\r\n,z,\r\nA3,,\r\n" + ",,\r\n" * 25 + "\0" * 512
    checked = run(world, text, dry_run=True)
    import_id = run(world, text)
    assert list_results(world, import_id) == [(4, 3, 0, 0, 1, 2)]
    assert [row[:2] for row in list_messages(world, "import_rejections", import_id)] == [(6, "MISSING_ID")]
    blank, padding = list_messages(world, "import_warnings", import_id)
    assert blank[:2] == (0, "BLANK_ROWS")
    assert blank[2].startswith("27 rows have no value in any cell and were skipped: line 3, line 4, line 8, ")
    assert padding[:2] == (0, "NUL_PADDING")
    assert "512 NUL characters" in padding[2]
    assert sorted(list_findings(world, checked)) == [(0, "BLANK_ROWS"), (0, "NUL_PADDING"), (6, "MISSING_ID")]


def test_keys_with_control_characters_are_rejected_and_found_again_if_a_version_has_stored_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'A1,a,Ann\r\nA2\0,b,Ann\r\n="003",c,Ann\r\n'
    with monkeypatch.context() as patched:
        patched.setattr("core.load_file.splitter.JUDGES_KEYS", False)
        first = run(world, text)
    assert sorted(list_ids(world)) == ['="003"', "A1", "A2\0"]
    again = run(world, text + "A4\0,d,Ann\r\n")
    assert list_results(world, again) == [(4, 0, 3, 0, 1, 0)]
    ((line, code, message),) = list_messages(world, "import_rejections", again)
    assert (line, code) == (5, "KEY_NOT_STORABLE")
    assert "A4<U+0000 control character>" in message
    overlay = run(world, 'A2\0,other,Ann\r\n="003",c,Ann\r\n', **OVERLAY)
    assert list_results(world, overlay) == [(2, 0, 1, 1, 0, 0)]
    assert counts(undo(world, overlay))[0] == "undone"
    undo(world, first)
    assert list_ids(world) == []
    new = run(world, text)
    assert list_results(world, new) == [(3, 2, 0, 0, 1, 1)]
    assert sorted(list_ids(world)) == ["003", "A1"]


def test_an_overlay_names_the_document_that_an_id_resembles(world: World) -> None:
    run(world, "ABC0001,1,\r\nabc0003,3,\r\n0000123,4,\r\nABC 0004,5,\r\nABC-0005\xa0,6,\r\nABC0006\u200b,7,\r\n")
    text = "abc0001,A,\r\nABC0003,C,\r\n123,D,\r\nABC0004,E,\r\nABC-0005,F,\r\nABC0006,G,\r\nNEW-9,H,\r\n"
    before = dump_documents(world)
    rejected = list_messages(world, "import_rejections", run(world, text, **OVERLAY))
    meant = ["ABC0001", "abc0003", "0000123", "ABC 0004", "ABC-0005<U+00A0", "ABC0006<U+200B"]
    for (_, code, message), existing in zip(rejected, meant, strict=False):
        assert code == "NOT_IN_CASE"
        assert f"The case has {existing}" in message
        assert "append_overlay" not in message
    assert "use append_overlay" in rejected[-1][2]
    assert dump_documents(world) == before


def test_a_check_and_the_append_overlay_after_it_warn_of_the_same_ids(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    run(world, "ABC0001,1,\r\n0000123,4,\r\n")
    # Those of the file itself do not count, in whatever chunk they are.
    text = "abc0001,A,\r\n123,D,\r\nN1,x,\r\nn1,y,\r\nABC0001,Z,\r\n"
    checked = run(world, text, mode="append_overlay", dry_run=True)
    found = [each for each in list_findings(world, checked) if each[1] == "ID_SIMILAR_IN_CASE"]
    import_id = run(world, text, mode="append_overlay")
    warned = list_messages(world, "import_warnings", import_id)
    assert found == [row[:2] for row in warned] == [(2, "ID_SIMILAR_IN_CASE"), (3, "ID_SIMILAR_IN_CASE")]
    assert "The case has ABC0001" in warned[0][2]
    assert list_results(world, import_id) == [(5, 4, 0, 1, 0, 2)]


def test_a_check_of_an_import_finds_the_ids_that_resemble_those_of_the_case(world: World) -> None:
    run(world, "ABC0001,1,\r\n0000123,4,\r\nB1,5,\r\n")
    checked = run(world, "abc0001,A,\r\n123,D,\r\nB1,5,\r\nC1,6,\r\n", dry_run=True)
    assert list_findings(world, checked) == [(2, "ID_SIMILAR_IN_CASE"), (3, "ID_SIMILAR_IN_CASE")]


@pytest.mark.parametrize(
    ("names", "cells", "earlier"),
    [
        ("Subject", "Re: all", {"Subject": "property"}),
        ("Sent On,Date Received", "1/2/2003,1/3/2003", {"Sent On": "property"}),
        ("Custodian/Source", "Ann;Ben", {"Custodian/Source": "property"}),
        ("Custodian,Custodian", "Ann,Ben", {"Custodian (2)": "property"}),
        ("Extracted Text,Hyperlink", r"TEXT\A1.txt,N\A1.doc", {"Extracted Text": "property", "Hyperlink": "property"}),
        ("Family Parent,Attach Start", "P1,P1", {"Family Parent": "property", "Attach Start": "property"}),
        ("Subject,Designation", "Re: all,Secret", {"Subject": "property", "Designation": "property"}),
    ],
)
def test_a_file_that_was_imported_before_its_columns_were_known_is_unchanged(
    world: World, names: str, cells: str, earlier: dict[str, str]
) -> None:
    data = f"Control Number,{names}\r\nA1,{cells}\r\nA2{',' * (names.count(',') + 1)}\r\n".encode()
    world.run(data, columns=earlier)
    before = dump_documents(world)
    more = data + f"A3,{cells}\r\n".encode()
    checked = world.run(more, dry_run=True)
    again = world.run(more)
    assert list_messages(world, "import_rejections", again) == []
    assert world.query("SELECT imported, unchanged FROM imports WHERE id = :i", i=again) == [(1, 2)]
    assert not [each for each in list_findings(world, checked) if "EXISTS" in each[1]]
    assert dump_documents(world)["exhibits"][:2] == before["exhibits"]


def test_a_second_column_of_custodians_is_one(world: World) -> None:
    world.run(b"Control Number,Custodian,Custodian\r\nA1,Ann,Ben;Ann\r\n")
    assert [row[0] for row in world.query("SELECT name FROM custodians ORDER BY name")] == ["Ann", "Ben"]


def test_an_overlay_puts_a_subject_in_the_place_of_the_property(world: World) -> None:
    data = b"Control Number,Subject\r\nA1,Re: all\r\n"
    world.run(data, columns={"Subject": "property"})
    before = dump_documents(world)
    overlay = world.run(data, **OVERLAY)
    rows = world.query("SELECT title, document_properties FROM exhibits")
    assert [(row.title, row.document_properties) for row in rows] == [("Re: all", None)]
    assert counts(undo(world, overlay))[:2] == ("undone", 1)
    assert dump_documents(world) == before


def test_titles_before_the_header_are_left_out(world: World) -> None:
    data = b"Acme v. Beta\r\n\r\nControl Number,Title\r\nA1,x\r\n,y\r\n"
    failed = world.run(data)
    (row,) = world.query("SELECT failure_code, failure_message FROM imports WHERE id = :i", i=failed)
    assert (row.failure_code, "'header_line' to 3" in row.failure_message) == ("NO_ID_COLUMN", True)
    import_id = world.run(data, header_line=3)
    assert list_results(world, import_id)[0][:2] == (2, 1)
    assert [each[0] for each in list_messages(world, "import_rejections", import_id)] == [5]
    # The rejected rows come with the lines before the header, and are read as the file was.
    report = world.report(import_id)
    corrected = report["rejected_rows.dat"].replace(b"\r\n,y", b"\r\nA2,y")
    again = world.run(corrected, **json.loads(report["options.json"]))
    assert list_results(world, again)[0][:2] == (1, 1)
    assert list_ids(world) == ["A1", "A2"]


def test_without_the_earlier_reading_a_file_imported_before_would_be_rejected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"Control Number,Subject\r\nA1,Re: all\r\n"
    world.run(data, columns={"Subject": "property"})
    monkeypatch.setattr(Layout, "earlier", None)
    again = world.run(data)
    assert [row[1] for row in list_messages(world, "import_rejections", again)] == ["EXISTS_WITH_OTHER_VALUES"]
