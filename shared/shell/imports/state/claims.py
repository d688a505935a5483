"""Claims of rejected rows: which of them are corrected or discarded, and by what.

Guaranteed: a line has one claim, by its primary key. Claims of requests are taken under the lock of the case, which a
retry and an undo take too; those of an uploaded file by the chunk that accepts the row. They are locked after exhibits
and in the order of their lines. A claim of a request is pending until the chunk that
accepts its row makes it accepted, in that chunk's transaction; an undo that removes the row makes it pending again, in
that of its part. A pending claim is open, for everyone, once its import does not run: nothing has to be written where
an import fails, is cancelled, or rejects the row again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, TextClause, bindparam, text
from sqlalchemy.orm import Session

from core.errors import WrongStateError
from core.imports.uploads import CORRECTIONS
from core.statuses import ImportKind, ImportStatus
from shell.db.bulk_insert import insert_new
from shell.tables.imports import Imports

PENDING, ACCEPTED, DISCARDED = "pending", "accepted", "discarded"
_COLUMNS = ("import_id", "line_no", "status", "correcting_import_id", "correcting_line", "user_id")
_LINES = "JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS asked"
_JOIN = (
    "STRAIGHT_JOIN import_corrections AS claim FORCE INDEX (PRIMARY) "
    "ON claim.import_id = :import_id AND claim.line_no = asked.line_no"
)
# Without a join: MySQL takes FOR UPDATE of a JSON_TABLE for a second locking clause (error 3569).
_FIND = (
    "SELECT claim.line_no, claim.status, claim.correcting_import_id FROM import_corrections AS claim "
    "FORCE INDEX (PRIMARY) WHERE claim.import_id = :import_id AND claim.line_no IN :lines ORDER BY claim.line_no"
)
_EACH: BindParameter[Any] = bindparam("lines", expanding=True)
_READ, _LOCK = text(_FIND).bindparams(_EACH), text(f"{_FIND} FOR UPDATE").bindparams(_EACH)
_RUNNING = text("SELECT id FROM imports WHERE id IN :ids AND status = 'running'").bindparams(
    bindparam("ids", expanding=True)
)
_DELETE = text(f"DELETE claim FROM {_LINES} {_JOIN}")
_ACCEPT = text(f"UPDATE {_LINES} {_JOIN} AND claim.correcting_import_id = :correcting_id SET claim.status = 'accepted'")  # noqa: S608
_ACCEPTED = text(
    "SELECT import_id, line_no, correcting_line FROM import_corrections FORCE INDEX (ix_import_corrections_by) "
    "WHERE correcting_import_id = :correcting_id AND correcting_line BETWEEN :first_line AND :last_line "
    "AND status = 'accepted' ORDER BY correcting_line"
)
_REOPEN = text(f"UPDATE {_LINES} {_JOIN} SET claim.status = 'pending'")  # noqa: S608
_CORRECTIONS = text(
    "SELECT import_id, NULL AS correcting, COUNT(*) AS closed FROM import_corrections WHERE import_id IN :ids "
    "AND status IN ('accepted', 'discarded') GROUP BY import_id "
    "UNION ALL SELECT corrects_import_id, id, 0 FROM imports WHERE corrects_import_id IN :ids "
    "AND phase = 'import' AND status <> 'awaiting_upload' ORDER BY correcting DESC"
).bindparams(bindparam("ids", expanding=True))
# An uploaded file has no claims before its chunks take them.
_LOST = text(
    f"SELECT IF(i.kind = 'rows' AND i.object_key NOT LIKE '{CORRECTIONS}/%', 0, "  # noqa: S608
    "left_over.rows_left - (SELECT COUNT(*) FROM import_chunks AS k JOIN import_corrections AS claim "
    "ON claim.correcting_import_id = k.import_id AND claim.correcting_line BETWEEN k.first_line AND k.last_line "
    "WHERE k.import_id = i.id AND k.status <> 'done')) AS lost, o.id, o.status, i.kind "
    "FROM (SELECT import_id, SUM(row_count) AS rows_left FROM import_chunks "
    "WHERE import_id = :import_id AND status <> 'done' GROUP BY import_id) AS left_over "
    "JOIN imports AS i ON i.id = left_over.import_id JOIN imports AS o ON o.id = i.corrects_import_id"
)
_IN_FAILED_CHUNKS = text(
    "SELECT MIN(claim.line_no) FROM import_chunks AS failed JOIN import_corrections AS claim "
    "ON claim.import_id = failed.import_id AND claim.line_no BETWEEN failed.first_line AND failed.last_line "
    "LEFT JOIN imports AS k ON k.id = claim.correcting_import_id "
    "WHERE failed.import_id = :import_id AND failed.status IN ('failed', 'void') "
    "AND (claim.status <> 'pending' OR k.status = 'running')"
)
# What an import cannot have, or have had, for its rejected rows to be corrected.
NOT_CORRECTABLE = frozenset(
    {
        *(ImportStatus.RUNNING, ImportStatus.CHECKING, ImportStatus.SPLITTING, ImportStatus.UNDOING),
        *(ImportStatus.UNDONE, ImportStatus.UNDONE_WITH_CONFLICTS, ImportStatus.UNDO_FAILED),
    }
)


class Claim(NamedTuple):
    """A claim of a line: by an import and a line of it, or by nothing but the user, who discards the row."""

    line: int
    correcting_id: int | None = None
    correcting_line: int | None = None


class LockedClaims(NamedTuple):
    """The claims of some lines, locked: how lines are taken, in words, and the lines whose claims are open again."""

    taken: dict[int, str]
    reopened: list[int]


def lock_claims(transaction: Session, import_id: int, lines: Collection[int]) -> LockedClaims:
    """Lock the claims of these lines, and return them."""
    return _find_claims(transaction, _LOCK, import_id, lines)


def read_taken(reading: Session, import_id: int, lines: Collection[int]) -> dict[int, str]:
    """Return how lines are taken, in words, without a lock."""
    return _find_claims(reading, _READ, import_id, lines).taken


def _find_claims(transaction: Session, statement: TextClause, import_id: int, lines: Collection[int]) -> LockedClaims:
    claims = transaction.execute(statement, {"import_id": import_id, "lines": sorted(lines)}).all()
    ids = {claim.correcting_import_id for claim in claims if claim.status == PENDING}
    running = set(transaction.execute(_RUNNING, {"ids": sorted(ids)}).scalars()) if ids else set()
    taken: dict[int, str] = {}
    for claim in claims:
        if claim.status == DISCARDED:
            taken[claim.line_no] = "is discarded"
        elif claim.status == ACCEPTED or claim.correcting_import_id in running:
            done = "is" if claim.status == ACCEPTED else "is being"
            taken[claim.line_no] = f"{done} corrected by import {claim.correcting_import_id}"
    return LockedClaims(taken, [claim.line_no for claim in claims if claim.line_no not in taken])


def take_claims(
    transaction: Session,
    import_id: int,
    claims: Iterable[Claim],
    user_id: str,
    reopened: Sequence[int],
    status: str = PENDING,
) -> None:
    """Claim lines, in their order, in place of the locked claims that are open again; `status` is that of corrections.

    A claim that another transaction took since is a duplicate: the transaction is retried, and finds it.
    """
    if reopened:
        transaction.execute(_DELETE, {"import_id": import_id, "lines": json.dumps(reopened)})
    rows = [
        (import_id, line, DISCARDED if by is None else status, by, number, user_id)
        for line, by, number in sorted(claims)
    ]
    insert_new(transaction, "import_corrections", _COLUMNS, rows)


def accept_lines(transaction: Session, import_record: Imports, lines: Iterable[int]) -> None:
    """Record that the case has the corrected rows of these lines; the caller has locked their exhibits."""
    if import_record.corrects_import_id is not None:
        place = {"import_id": import_record.corrects_import_id, "lines": json.dumps(sorted(lines))}
        transaction.execute(_ACCEPT, {**place, "correcting_id": import_record.id})


def reopen_lines(
    transaction: Session, import_record: Imports, first_line: int, last_line: int, kept: Collection[int]
) -> None:
    """Record that an undo took rows of these lines of a correction out of the case, but for those at `kept`."""
    if import_record.corrects_import_id is None:
        return
    place = {"correcting_id": import_record.id, "first_line": first_line, "last_line": last_line}
    found = transaction.execute(_ACCEPTED, place)
    lines = sorted(row.line_no for row in found if row.correcting_line not in kept)
    corrected = {"import_id": import_record.corrects_import_id, "lines": json.dumps(lines)}
    transaction.execute(_REOPEN, corrected)


@dataclass
class Corrections:
    """How many rejected rows of an import are corrected or discarded; the imports that correct rows, newest first."""

    closed: int = 0
    by: list[int] = field(default_factory=list)


def read_corrections(reading: Session, import_ids: Sequence[int]) -> Mapping[int, Corrections]:
    """Return the corrections of each of the imports, in one statement."""
    found = {each: Corrections() for each in import_ids}
    for row in reading.execute(_CORRECTIONS, {"ids": list(import_ids)}) if import_ids else ():
        found[row.import_id].closed += row.closed
        if row.correcting is not None:
            found[row.import_id].by.append(row.correcting)
    return found


def refuse_without_claims(transaction: Session, import_id: int) -> None:
    """Raise WrongStateError if a correction that is retried has lost lines, or its import cannot be corrected any more.

    The caller holds the lock of the case.
    """
    found = transaction.execute(_LOST, {"import_id": import_id}).one_or_none()
    if found is None:
        return
    if found.status in NOT_CORRECTABLE:
        raise WrongStateError(f"Import {found.id}, whose rows this one corrects, has the status {found.status}.")
    if found.lost:
        advice = "correct the others again"
        if found.kind == ImportKind.IMAGES:
            advice = f"for the others, load the rejected-rows file of import {found.id} with its options"
        raise WrongStateError(f"{found.lost} of the rows were corrected or discarded otherwise since; {advice}.")


def refuse_beside_claims(transaction: Session, import_id: int) -> None:
    """Raise WrongStateError if rows of failed chunks, which a retry would import, are corrected or discarded."""
    line = transaction.execute(_IN_FAILED_CHUNKS, {"import_id": import_id}).scalar()
    if line is not None:
        raise WrongStateError(
            f"Line {line} of a chunk that failed is corrected or discarded; undo that correction, then retry."
        )
