"""Overlays store byte for byte what the reference stores: rows that are locked, read and decided one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy.orm import Session

from core.exhibit_history import compress_document
from core.imports.overlay import OVERLAID_COLUMNS
from shell.db.sql_literals import execute_literal, format_match
from shell.exhibits import updates
from shell.exhibits.updates import KeyedExhibit
from shell.imports.overlays import columns
from shell.imports.overlays.columns import NO_COLUMN_CHANGES, ColumnComparison
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World

HOSTILE = (
    "a\x01\x1fb",
    'say ""it""',
    "back\\slash \\u0000",
    "\u2028\u2029",
    "\U0001f600 ü",
    "it's",
    "\x7f\x85",
    "{[,]}",
)
HEADER = "Control Number,Bates Begin,Title,Author,Color,Date Sent,Time Sent,Custodian,Tags,Note\r\n"
_EXHIBITS = (
    "SELECT e.* FROM exhibits AS e JOIN cases AS c ON c.id = e.case_id WHERE c.name = :n ORDER BY control_number"
)
_HISTORY = """
    SELECT e.control_number, h.version, h.action, h.user_id, h.line_no, h.changes, h.stated
    FROM exhibit_changes AS h JOIN exhibits AS e ON e.id = h.exhibit_id JOIN cases AS c ON c.id = e.case_id
    WHERE c.name = :n ORDER BY 1, 2
"""
_LINKS = """
    SELECT e.control_number, n.name, l.user_id FROM {link} AS l JOIN exhibits AS e ON e.id = l.exhibit_id
    JOIN {names} AS n ON n.id = l.{key} JOIN cases AS c ON c.id = e.case_id WHERE c.name = :n ORDER BY 1, 2
"""
_NUMBERED = {"id", "case_id", "import_id", "created_at_gmt", "updated_at_gmt", "text_id", "page_set_id"}
Digests = dict[str, str]


def write_rows(version: int, count: int = 24) -> bytes:
    """Rows of which some are the same in each version, and some lack what others have."""
    rows = []
    for n in range(count):
        v = 0 if n % 4 == 0 else version
        word = HOSTILE[(n + v) % len(HOSTILE)]
        date = ("2001-01-31", "2001-02-28 10:00", "", "2001-02-31")[(n + v) % 4]
        note = "" if n % 3 == v % 3 else f"note {v}"
        number = f"N-{n}" if n % 7 else f"N-{n}-{v}"
        color = "" if (n + v) % 5 == 0 else word
        names = (f"Ann{'; Bob' if n % 2 == v % 2 else ''}", f"tag {v}; hot" if n % 3 else "")
        cells = (f"A-{n:02}", number, f"title {word} {v}", word, color, date, "11:00" if v == 1 else "", *names, note)
        rows.append(",".join(f'"{cell}"' for cell in cells) + "\r\n")
    return (HEADER + "".join(rows)).encode()


def digest(world: World, case: str) -> Digests:
    """A hash of all bytes of each table, without the numbers that the two ways cannot share."""
    found = {
        "exhibits": [
            {name: value for name, value in row._mapping.items() if name not in _NUMBERED}
            for row in world.query(_EXHIBITS, n=case)
        ],
        "exhibit_changes": world.query(_HISTORY, n=case),
        "custodian_exhibits": world.query(
            _LINKS.format(link="custodian_exhibits", names="custodians", key="custodian_id"), n=case
        ),
        "taggings": world.query(_LINKS.format(link="taggings", names="tags", key="tag_id"), n=case),
    }
    assert all(found.values())
    return {name: hashlib.sha256(repr(list(rows)).encode()).hexdigest() for name, rows in found.items()}


def overlay(world: World, case: str, options: dict[str, Any]) -> Digests:
    """Import a file and overlay it with two others, the second one again."""
    world.run(write_rows(1), case=case)
    for version in (2, 3, 3):
        world.run(write_rows(version), case=case, mode="overlay", **options)
    return digest(world, case)


def select_plainly(transaction: Session, ids: Sequence[int]) -> list[Sequence[Any]]:
    """Do what `select_values` does, one row for each exhibit."""
    names = ", ".join(("id", "import_id", "document_properties", *OVERLAID_COLUMNS))
    statement = f"SELECT {names} FROM exhibits WHERE {format_match('id', ids)}"
    rows: list[Any] = list(execute_literal(transaction.connection(), statement, "SELECT exhibits"))
    return rows


def lock_plainly(transaction: Session, ids: Sequence[int]) -> dict[int, KeyedExhibit]:
    """Do what `lock_exhibits` does, one row for each exhibit."""
    rest = f"FORCE INDEX (PRIMARY) WHERE {format_match('id', sorted(ids))} ORDER BY id FOR UPDATE"
    return {exhibit.id: exhibit for exhibit in updates._select(transaction, rest)}


@pytest.fixture
def by_rows(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have the overlays that follow take the way of the reference."""

    def switch() -> None:
        monkeypatch.setattr(ColumnComparison, "compare", lambda _self, _, candidates: (NO_COLUMN_CHANGES, candidates))
        monkeypatch.setattr("shell.imports.chunks.overlay_rows.select_values", select_plainly)
        monkeypatch.setattr("shell.imports.chunks.overlay_targets.lock_exhibits", lock_plainly)

    return switch


@pytest.mark.parametrize("blanks", ["keep", "clear"])
@pytest.mark.parametrize("multi_values", ["merge", "replace"])
def test_the_bytes_are_those_of_the_reference(
    world: World, chunk_rows: Chunks, by_rows: Callable[[], None], blanks: str, multi_values: str
) -> None:
    chunk_rows(10)
    options = {"blanks": blanks, "multi_values": multi_values}
    found = overlay(world, "By column", options)
    by_rows()
    assert found == overlay(world, "By row", options)


def test_a_history_of_other_bytes_is_noticed(
    world: World, by_rows: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    changed = f"{columns.__name__}.compress_document"
    monkeypatch.setattr(changed, lambda text: compress_document(text.replace("title ", "title  ", 1)))
    found = overlay(world, "By column", {})
    by_rows()
    expected = overlay(world, "By row", {})
    assert {name for name in found if found[name] != expected[name]} == {"exhibit_changes"}
