"""Where a case's objects are: the beginnings of their keys, stored before the rows that say so are deleted.

Guaranteed: of a case with former names, those of every name are included; no beginning is that of another case's keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.imports.preview_ids import PREVIEW_PREFIX, hash_case
from core.imports.uploads import CORRECTIONS
from core.imports.uploads import PREFIX as IMPORTS
from core.productions.volume import SOURCE_PREFIX, build_production_prefix
from core.texts.packs import TEXT_PREFIX
from core.volumes.keys import ARCHIVES, FILES
from shell.db.bulk_insert import insert_new
from shell.purges.turns import Turn

_PAGE = 500
_BY_NAME = (IMPORTS, "options", SOURCE_PREFIX, FILES, ARCHIVES)
_BY_ID = (TEXT_PREFIX, "exports")
_COLUMNS = ("case_id", "prefix_no", "prefix", "suffix")
_NAMES = text(
    "SELECT name FROM cases WHERE id = :case_id "
    "UNION SELECT name FROM case_aliases WHERE case_id = :case_id AND name IS NOT NULL ORDER BY name"
)
_IMPORTS = text(
    "SELECT id, object_key FROM imports FORCE INDEX (ix_imports_case) "
    "WHERE case_id = :case_id AND id > :after ORDER BY id LIMIT :most"
)
_PRODUCTIONS = text(
    "SELECT id FROM productions FORCE INDEX (ix_productions_case) "
    "WHERE tenant_id = :tenant_id AND case_id = :case_id AND id > :after ORDER BY id LIMIT :most"
)
_LAST = text("SELECT COALESCE(MAX(prefix_no), 0) FROM case_purge_prefixes WHERE case_id = :case_id")


class Prefix(NamedTuple):
    """The beginning of keys, and their end; empty for any."""

    prefix: str
    suffix: str = ""

    @property
    def name(self) -> str:
        """The first part of the keys, which names what the objects are."""
        return self.prefix.partition("/")[0]


def store_prefixes(transaction: Session, turn: Turn) -> bool:
    """Store the next beginnings of keys; return whether there are no more. The turn's row is locked."""
    table, after = turn.position or ("names", 0)
    values = {"case_id": turn.case_id, "tenant_id": turn.tenant_id, "after": after, "most": _PAGE}
    if table == "names":
        names = transaction.execute(_NAMES, values).scalars()
        _insert(transaction, turn, _list_named(turn, list(names)))
        turn.position = ["imports", 0]
        return False
    rows = transaction.execute(_IMPORTS if table == "imports" else _PRODUCTIONS, values).all()
    _insert(transaction, turn, [each for row in rows for each in _list_of(table, row)])
    if rows:
        turn.position = [table, rows[-1].id]
    else:
        turn.position = ["productions", 0]
    return not rows and table == "productions"


def _list_named(turn: Turn, names: Sequence[str]) -> list[Prefix]:
    by_name = [Prefix(f"{kind}/{turn.tenant_id}/{name}/") for name in names for kind in _BY_NAME]
    by_id = [Prefix(f"{kind}/{turn.tenant_id}/{turn.case_id}/") for kind in _BY_ID]
    previews = [Prefix(f"{PREVIEW_PREFIX}/{turn.tenant_id}/", f".{hash_case(name)}") for name in names]
    return [*by_name, *by_id, *previews]


def _list_of(table: str, row: object) -> list[Prefix]:
    number: int = row.id  # type: ignore[attr-defined]
    if table == "productions":
        return [Prefix(build_production_prefix(number))]
    key: str = row.object_key  # type: ignore[attr-defined]
    correction = [Prefix(key)] if key.startswith(f"{CORRECTIONS}/") else []
    return [Prefix(f"reports/{number}/"), Prefix(f"splits/{number}/"), *correction]


def _insert(transaction: Session, turn: Turn, prefixes: Sequence[Prefix]) -> None:
    last = int(transaction.execute(_LAST, {"case_id": turn.case_id}).scalar_one())
    rows = [(turn.case_id, last + number, *each) for number, each in enumerate(prefixes, 1)]
    insert_new(transaction, "case_purge_prefixes", _COLUMNS, rows)
