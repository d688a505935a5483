"""Store the texts that cells have, and have exhibits point to them, by statements for all rows of a chunk.

Guaranteed: a text is inserted once and never changed or deleted; the caller has locked the exhibits whose texts it
sets, and raises their versions where they existed before.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.db.bulk_insert import insert_new

_COLUMNS = ("case_id", "import_id", "line_no", "object_key", "version_id", "byte_start", "byte_len", "sha256")
_IDS = text("SELECT line_no, id FROM texts WHERE import_id = :import_id AND line_no BETWEEN :first_line AND :last_line")
# Finds every exhibit by its primary key, whatever the number of ids: a scan would wait for locks on other exhibits.
_SET = text("""
    UPDATE JSON_TABLE(:pairs, '$[*]' COLUMNS (id BIGINT PATH '$[0]', text_id BIGINT PATH '$[1]')) AS changed
    STRAIGHT_JOIN exhibits AS exhibit FORCE INDEX (PRIMARY) ON exhibit.id = changed.id
    SET exhibit.text_id = changed.text_id
""")
_HASHES = text("""
    SELECT exhibit.id, own.sha256 FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS asked
    STRAIGHT_JOIN exhibits AS exhibit FORCE INDEX (PRIMARY) ON exhibit.id = asked.id
    JOIN texts AS own ON own.id = exhibit.text_id
""")


class NewText(NamedTuple):
    """A text to be stored: its line, the object that has it, its bytes there, and their SHA-256."""

    line_no: int
    object_key: str
    version_id: str | None
    byte_start: int
    byte_len: int
    sha256: bytes


def insert_texts(transaction: Session, case_id: int, import_id: int, texts: Sequence[NewText]) -> dict[int, int]:
    """Insert texts of an import; return their ids by line."""
    if not texts:
        return {}
    insert_new(transaction, "texts", _COLUMNS, [(case_id, import_id, *each) for each in texts])
    lines = [each.line_no for each in texts]
    place = {"import_id": import_id, "first_line": min(lines), "last_line": max(lines)}
    return {row.line_no: row.id for row in transaction.execute(_IDS, place)}


def set_text_ids(transaction: Session, text_ids: Mapping[int, int | None]) -> None:
    """Set the texts of exhibits, by id, in one statement."""
    if text_ids:
        transaction.execute(_SET, {"pairs": json.dumps(sorted(text_ids.items()))})


def read_text_hashes(reading: Session, exhibit_ids: Collection[int]) -> dict[int, bytes]:
    """Return the hashes of the texts that exhibits point to, by exhibit."""
    if not exhibit_ids:
        return {}
    rows = reading.execute(_HASHES, {"ids": json.dumps(sorted(exhibit_ids))})
    return {row.id: bytes(row.sha256) for row in rows}
