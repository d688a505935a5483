"""Rows with numbers that were given out: of two values the greater stays, and no row is deleted.

Guaranteed: a Bates number, a position in a volume, a fencing token or a version of a profile that was ever given out
here or at the source is not given out again, also when a tenant is brought back to a point in time before.
"""

from __future__ import annotations

import secrets

import pymysql

from tools.tenants.moving.assignment import COUNTERS
from tools.tenants.moving.connection import Row, read_text
from tools.tenants.moving.row_loader import DUPLICATE_ENTRY, RowLoader

_LOCK_ID = "advisory_id"
_LOCK_ID_BITS = 63


def merge_counters(loader: RowLoader, table: str, batch: list[Row]) -> None:
    """Insert rows that are missing, and raise the counters of the others. Raises TenantToolError for other rows."""
    counters = [loader.names.index(name) for name in COUNTERS[table]]
    with loader.database.transaction():
        found = loader.find(batch)
        for row in batch:
            known = found.get(loader.get_key(row))
            if known is None:
                _insert(loader, row)
            elif find_difference(loader.names, counters, row, known):
                raise loader.build_conflict(row)
            else:
                _raise(loader, table, row, COUNTERS[table])


def find_difference(names: list[str], counters: list[int], row: Row, known: Row) -> bool:
    """Return whether two rows differ in something that is neither a counter nor the random id of a lock."""
    ignored = {*counters, *(place for place, name in enumerate(names) if name == _LOCK_ID)}
    return any(place not in ignored and row[place] != known[place] for place in range(len(names)))


def _insert(loader: RowLoader, row: Row) -> None:
    """Insert a row; if another destination has the id of its lock, which is random, with a new one."""
    try:
        loader.insert([row])
    except pymysql.IntegrityError as exc:
        if exc.args[0] != DUPLICATE_ENTRY or _LOCK_ID not in loader.names:
            raise
        place = loader.names.index(_LOCK_ID)
        loader.insert([(*row[:place], str(secrets.randbits(_LOCK_ID_BITS)).encode(), *row[place + 1 :])])


def _raise(loader: RowLoader, table: str, row: Row, names: tuple[str, ...]) -> None:
    changes = ", ".join(f"`{name}` = GREATEST(`{name}`, %s)" for name in names)
    values = [int(read_text(row[loader.names.index(name)])) for name in (*names, "id")]
    loader.database.execute(f"UPDATE `{table}` SET {changes} WHERE id = %s", values)  # noqa: S608 - of the schema


def merge_profiles(loader: RowLoader, tenant: str, rows: list[Row]) -> None:
    """Have the tenant's profiles be these rows; one whose options change gets a version that it never had.

    Imports have recorded which version they used. Done in one transaction, so that a repetition changes nothing.
    """
    names = ", ".join(f"`{name}`" for name in loader.names)
    version = loader.names.index("version")
    with loader.database.transaction():
        query = f"SELECT {names} FROM import_profiles WHERE tenant_id = %s FOR UPDATE"  # noqa: S608 - of the schema
        known = {loader.get_key(row): row for row in loader.database.read(query, (tenant,))}
        loader.database.execute("DELETE FROM import_profiles WHERE tenant_id = %s", (tenant,))
        loader.insert([_choose_version(row, known.get(loader.get_key(row)), version) for row in rows])


def _choose_version(row: Row, known: Row | None, place: int) -> Row:
    if known is None:
        return row
    stated, present = (int(read_text(each[place])) for each in (row, known))
    is_other = (*row[:place], *row[place + 1 :]) != (*known[:place], *known[place + 1 :])
    chosen = max(stated, present + 1) if is_other else max(stated, present)
    return (*row[:place], str(chosen).encode(), *row[place + 1 :])
