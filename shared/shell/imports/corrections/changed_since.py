"""Find the documents of corrected rows of an overlay that were changed since the original import rejected these rows.

Guaranteed: every change and creation by a later import, and every other one after the chunk that rejected the row, is
found, except for those of imports that were undone and those of what the row does not state: pages of images, and tags
that it has no column for. So is a row of the original import itself for the same document. Where the caller holds the
locks on the exhibits, no later change can be missed: each change of an exhibit writes its history under that lock, and
no import of the case is undone while the correction runs (D292).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.cells.keys import show_text
from core.codes import Rejection
from core.imports.id_lists import decode_ids
from core.load_file.layout import Layout
from core.load_file.rows import RowError

LISTS_PER_PAGE = 200
_STATED = (
    "JSON_TABLE(:rows, '$[*]' COLUMNS (exhibit_id BIGINT PATH '$[0]', line_no BIGINT PATH '$[1]')) AS stated "
    "LEFT JOIN import_rejections AS r ON r.import_id = :original AND r.line_no = stated.line_no AND r.seq = 0 "
    "LEFT JOIN import_chunks AS k ON k.import_id = r.import_id AND k.chunk_no = r.chunk_no"
)
# The last one of an exhibit counts, that of the original import before others, which cannot be undone while one that
# corrects it runs. What only tags is no newer value of a row without tags.
_CHANGES = text(
    "SELECT c.exhibit_id, c.import_id, c.line_no, c.user_id FROM ("  # noqa: S608
    "SELECT c.exhibit_id, COALESCE(MAX(IF(c.import_id = :original, c.version, NULL)), MAX(c.version)) AS version "
    f"FROM {_STATED} STRAIGHT_JOIN exhibit_changes AS c FORCE INDEX (PRIMARY) ON c.exhibit_id = stated.exhibit_id "
    "LEFT JOIN imports AS other ON other.id = c.import_id "
    "WHERE c.import_id = :original OR ((other.status IS NULL OR (other.status <> 'undone' AND other.kind <> 'images')) "
    "AND (:maps_tags OR c.action NOT IN ('tagged', 'untagged')) "
    "AND (c.import_id > :original OR k.finished_at IS NULL OR c.created_at_gmt >= k.finished_at)) "
    "GROUP BY c.exhibit_id) AS last STRAIGHT_JOIN exhibit_changes AS c FORCE INDEX (PRIMARY) "
    "ON c.exhibit_id = last.exhibit_id AND c.version = last.version"
)
_CREATIONS = text(
    "SELECT e.id AS exhibit_id, e.import_id, e.line_no, creator.user_id "  # noqa: S608
    f"FROM {_STATED} STRAIGHT_JOIN exhibits AS e FORCE INDEX (PRIMARY) ON e.id = stated.exhibit_id "
    "JOIN imports AS creator ON creator.id = e.import_id "
    "WHERE e.import_id >= :original OR (COALESCE(creator.finished_at, NOW(6)) >= k.finished_at "
    "AND EXISTS (SELECT 1 FROM import_chunks AS born WHERE born.import_id = e.import_id "
    "AND e.line_no BETWEEN born.first_line AND born.last_line AND born.finished_at >= k.finished_at))"
)
_UNCHANGED = text(
    "SELECT chunk_no, exhibit_ids FROM import_unchanged FORCE INDEX (PRIMARY) WHERE import_id = :original "
    "AND chunk_no > :after AND first_id <= :last AND last_id >= :first ORDER BY chunk_no LIMIT :page"
)


class CorrectedDocument(NamedTuple):
    """A document that a corrected row would change: its version now, the row's line in the original, what it states."""

    exhibit_id: int
    control_number: str
    version: int
    line: int | None
    seen_version: int | None


class _Change(NamedTuple):
    import_id: int | None
    line_no: int | None
    user_id: str


def find_changed(
    transaction: Session, original_id: int, layout: Layout, documents: Sequence[CorrectedDocument]
) -> dict[int, RowError]:
    """Return why rows of this layout must not change their documents, by the ids of these.

    DUPLICATE_ID if the original import has a row of the document, which its own rows must not replace, whatever they
    state; DOCUMENT_CHANGED if something else changed it since and the row does not state its version, or if the row
    states another one.
    """
    if not documents:
        return {}
    rows = json.dumps([(each.exhibit_id, each.line) for each in documents])
    place = {"original": original_id, "rows": rows, "maps_tags": "tags" in layout.fields}
    changes: dict[int, _Change] = {}
    for statement in (_CREATIONS, _CHANGES):
        for exhibit_id, *what in transaction.execute(statement, place):
            if not _is_of(changes.get(exhibit_id), original_id):
                changes[exhibit_id] = _Change(*what)
    others = [each.exhibit_id for each in documents if not _is_of(changes.get(each.exhibit_id), original_id)]
    found_equal = set(_list_unchanged(transaction, original_id, others))
    reasons = ((each, _explain(each, original_id, changes, found_equal, layout)) for each in documents)
    return {each.exhibit_id: reason for each, reason in reasons if reason}


def describe_missing(control_number: str | None, seen_version: int) -> RowError:
    """Return why a row is rejected that states the version of a document which the case does not have."""
    shown = show_text(control_number or "")
    message = f"The row states version {seen_version} of {shown}, and the case has no such document."
    advice = "Correct the id, or leave the version out."
    return RowError(Rejection.DOCUMENT_CHANGED, None, f"{message} {advice}")


def _is_of(change: _Change | None, import_id: int) -> bool:
    return change is not None and change.import_id == import_id


def _list_unchanged(transaction: Session, original_id: int, exhibit_ids: Collection[int]) -> Iterator[int]:
    """Yield those of the exhibits that rows of the original import found equal."""
    after, looked_for = -1, set(exhibit_ids)
    while looked_for:
        place = {"first": min(looked_for), "last": max(looked_for), "after": after, "page": LISTS_PER_PAGE}
        lists = transaction.execute(_UNCHANGED, {"original": original_id, **place}).all()
        for each in lists:
            yield from looked_for.intersection(decode_ids(each.exhibit_ids))
        if len(lists) < LISTS_PER_PAGE:
            return
        after = lists[-1].chunk_no


def _explain(
    document: CorrectedDocument,
    original_id: int,
    changes: Mapping[int, _Change],
    found_equal: Collection[int],
    layout: Layout,
) -> RowError | None:
    change, shown = changes.get(document.exhibit_id), show_text(document.control_number)
    if _is_of(change, original_id) or document.exhibit_id in found_equal:
        line = f", in line {change.line_no}" if change and _is_of(change, original_id) else ""
        message = f"Import {original_id} has another row of {shown}{line}, which counts. Correct the id of this one."
        return RowError(Rejection.DUPLICATE_ID, None, message)
    if document.seen_version == document.version or (document.seen_version is None and change is None):
        return None
    by = "" if change is None else f", after a change by {_name(change)}"
    if document.seen_version is not None:
        message = f"{shown} has version {document.version}{by}, and the row states {document.seen_version}."
    else:
        message = f"{shown} was changed by {_name(change)} since import {original_id} rejected this row"
        message += f" and has version {document.version}."
    # A file has no place for a version.
    way = "" if layout.json_cells else f" by POST /imports/{original_id}/corrections"
    advice = f"Look at the document; to change it all the same, correct the row{way} with that version."
    return RowError(Rejection.DOCUMENT_CHANGED, None, f"{message} {advice}")


def _name(change: _Change | None) -> str:
    if change is None or change.import_id is None:
        return f"user {change.user_id if change else ''}"
    return f"import {change.import_id}" + (f", line {change.line_no}," if change.line_no is not None else "")
