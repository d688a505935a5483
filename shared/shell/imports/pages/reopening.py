"""Reconcile pages again whose data file was retried after the images were imported.

Guaranteed: in the transaction that ends the data file's import again, the imports of images that were compared with it
before are completed again (`shell.imports.state.recompletion`). Rows of imports are locked in the order of
`shell.imports.state.dependents`: the import, then those that can have been compared with it: images that come after it,
and images of its volume that come after none, such as error files. Images of another data file of the volume are left
alone: their rows are locked only after that of their data file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from shell.imports.state.compared_imports import read_sources
from shell.imports.state.recompletion import reopen

_OF_VOLUME = text(
    "SELECT i.id, i.after_import_id FROM imports AS data STRAIGHT_JOIN imports AS i ON i.volume_id = data.volume_id "
    "AND i.tenant_id = data.tenant_id AND i.case_id = data.case_id "
    "WHERE data.id = :import_id AND data.kind = 'rows' AND i.kind = 'images' ORDER BY i.id"
)
# By primary keys: a scan would wait for other imports of the volume that end.
_COMPLETED = text(
    "SELECT i.id, i.generation, i.tenant_id, i.case_id, i.phase, r.compared FROM imports AS i FORCE INDEX (PRIMARY) "
    "STRAIGHT_JOIN page_reconciliations AS r ON r.import_id = i.id WHERE i.id IN :ids "
    "AND i.status IN ('completed', 'completed_with_rejections', 'checked') ORDER BY i.id FOR UPDATE"
).bindparams(bindparam("ids", expanding=True))


def reopen_images(transaction: Session, import_id: int, generation: int) -> None:
    """Have imports of images completed again that were compared with this import before its end.

    The caller ends this import in `generation`, and holds its lock: what was compared with this generation was compared
    with a part of it. Raises QueueUnavailableError if the queue does not
    take a request; the caller must then roll back.
    """
    stale = _find_stale(transaction, import_id, generation)
    if stale:
        reopen(transaction, stale)


def _find_stale(transaction: Session, import_id: int, generation: int) -> Sequence[Any]:
    """Lock the ended imports of images that can be compared with this import; return those that were."""
    ids = _list_compared(transaction.execute(_OF_VOLUME, {"import_id": import_id}).all(), import_id)
    found = transaction.execute(_COMPLETED, {"ids": ids}).all() if ids else []
    return [
        row
        for row in found
        if any(each.import_id == import_id and each.generation <= generation for each in read_sources(row.compared))
    ]


def _list_compared(images: Sequence[Any], import_id: int) -> list[int]:
    """Return the ids of the images that come after no import or, also by way of other images, after this one."""
    compared: list[int] = []
    for row in images:
        # An import comes after one with a lower id.
        if row.after_import_id in (None, import_id, *compared):
            compared.append(row.id)
    return compared
