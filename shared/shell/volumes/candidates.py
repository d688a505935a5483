"""Store the files of a volume that can be its load files, also where no import of it can begin."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import text

from core.volumes.candidates import PossibleLoadFile
from shell.db.session import session
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_STORE = text(
    "UPDATE volumes SET candidates = :candidates "
    "WHERE id = :volume_id AND generation = :generation AND status = 'sealed'"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def store_candidates(volume: Volumes, found: Sequence[PossibleLoadFile]) -> None:
    """Replace the candidates of a volume that is being listed in this generation."""
    document = json.dumps([each.describe() for each in found], ensure_ascii=False)
    values = {"volume_id": volume.id, "generation": volume.generation, "candidates": document}
    with session() as transaction:
        transaction.execute(_STORE, values)
