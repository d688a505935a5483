"""A case with rows in each table that a purge empties, and objects under each prefix, with a canary in every free text.

The rows are made from the columns of the tables, so that a table or column that is added later is filled, too.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import BINARY, VARBINARY, Column, DateTime, LargeBinary, String, Table, insert
from sqlalchemy.dialects.mysql import MEDIUMBLOB

from shell.aws import clients
from shell.purges.plan import list_purged
from shell.tables import metadata
from tests.support.application.driver import World
from tests.support.database.application_user import administrator_engine

TENANT, ROWS = "tenant", 3
# Columns whose values decide what is done with a row.
_FIXED: dict[str, Any] = {
    "tenant_id": TENANT,
    "is_open": 0,
    "end_at": datetime(9999, 1, 1),
    "begin_at": datetime(2020, 1, 1),
}
_STATUSES = {"productions": "confirmed", "volumes": "ready", "imports": "completed", "tagging_jobs": "running"}
_PARENTS = {
    "exhibit_id": "exhibits",
    "custodian_id": "custodians",
    "tag_id": "tags",
    "import_id": "imports",
    "volume_id": "volumes",
    "production_id": "productions",
    "export_id": "exports",
    "page_set_id": "page_sets",
}
# Ids of rows that have parents in two ways: a tombstone is of an exhibit that is gone.
_TOMBSTONES = 500_000


@dataclass
class FilledCase:
    """A case, its canary, and how many rows of each table and objects of each kind were made for it."""

    world: World
    case_id: int
    name: str
    former: str
    canary: str
    rows: Counter[str] = field(default_factory=Counter)
    objects: Counter[tuple[str, str]] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)

    def id_of(self, table: str, number: int) -> int:
        """The id of a row: those of two cases alternate."""
        start = _TOMBSTONES if table == "exhibit_tombstones" else 1_000
        return start + number * 10 + self.case_id


def fill_case(world: World, case_id: int, *, rows: int = ROWS) -> FilledCase:
    """Make the case, its rows and its objects; `case_id` is below 10."""
    canary = f"zanary{case_id}{secrets.token_hex(3)}"
    case = FilledCase(world, case_id, f"Matter {canary}", f"Former {canary}", canary)
    with administrator_engine().begin() as connection:
        connection.execute(
            insert(metadata().tables["cases"]).values(id=case_id, tenant_id=TENANT, name=case.name, hold_reason=None)
        )
        former = {"name": case.former, "name_hash": hashlib.sha256(case.former.encode()).digest()}
        connection.execute(
            insert(metadata().tables["case_aliases"]).values(tenant_id=TENANT, case_id=case_id, **former)
        )
        changed = {"kind": "held", "details": "{}", "note": f"note {canary}"}
        connection.execute(
            insert(metadata().tables["case_changes"]).values(tenant_id=TENANT, case_id=case_id, **changed)
        )
        purged = set(list_purged())
        for table in metadata().sorted_tables:
            if table.name in purged:
                values = [_make(case, table, number) for number in range(rows)]
                connection.execute(insert(table), values)
                case.rows[table.name] += rows
        _add_history_of_tombstones(case, connection, rows)
    _put_objects(case)
    return case


def _add_history_of_tombstones(case: FilledCase, connection: Any, rows: int) -> None:
    changes = metadata().tables["exhibit_changes"]
    for number in range(rows):
        gone = {"exhibit_id": case.id_of("exhibit_tombstones", number)}
        connection.execute(insert(changes).values(**{**_make(case, changes, number), **gone}))
    case.rows["exhibit_changes"] += rows


def _make(case: FilledCase, table: Table, number: int) -> dict[str, Any]:
    return {column.name: _value(case, table, column, number) for column in table.columns}


def _value(case: FilledCase, table: Table, column: Column[Any], number: int) -> Any:
    name = column.name
    if table.name == "exhibit_tombstones" and name == "exhibit_id":
        return case.id_of(table.name, number)
    if name == "id":
        return case.id_of(table.name, number)
    if name in _PARENTS:
        return case.id_of(_PARENTS[name], number)
    if name == "status":
        return _STATUSES.get(table.name, "completed")
    if table.name == "insert_destinations" and name == "name":
        return f"volume:{case.case_id}:{number}{case.canary}"
    if table.name == "imports" and name == "object_key":
        return f"corrections/2026-01-01/{TENANT}/{case.case_id}{number}.jsonl" if number == 0 else f"imports/{number}"
    if name == "case_id":
        return case.case_id
    if name == "bucket":
        return case.world.bucket
    return _FIXED[name] if name in _FIXED else _by_type(case, column, number)


def _by_type(case: FilledCase, column: Column[Any], number: int) -> Any:
    kind = column.type
    text = f"{number}{case.canary} in {column.table.name}.{column.name}"
    if isinstance(kind, BINARY):
        return hashlib.sha512(text.encode()).digest()[: kind.length]
    if isinstance(kind, (LargeBinary, VARBINARY, MEDIUMBLOB)):
        return text.encode()[: kind.length or 100]
    if isinstance(kind, String):
        return text[: kind.length or 100]
    if isinstance(kind, DateTime):
        return datetime(2026, 1, 1 + number)
    return number + 1 + 100 * case.case_id if "SMALL" not in str(kind) else number + 1


def _put_objects(case: FilledCase) -> None:
    """Versions, a delete marker and an upload in parts under each prefix."""
    hashed = hashlib.sha256(case.name.encode()).hexdigest()[:32]
    imports = [case.id_of("imports", number) for number in range(case.rows["imports"])]
    named = [f"{kind}/{TENANT}/{case.name}/" for kind in ("imports", "options", "files", "volumes", "archives")]
    named += [f"{kind}/{TENANT}/{case.former}/" for kind in ("imports", "volumes")]
    keys = [f"{prefix}1/{case.canary}.txt" for prefix in named]
    keys += [f"{kind}/{TENANT}/{case.case_id}/1/{case.canary}" for kind in ("texts", "exports")]
    keys += [f"{kind}/{each}/1/{case.canary}" for kind in ("reports", "splits") for each in imports]
    keys += [
        f"productions/{case.id_of('productions', number)}/{case.canary}" for number in range(case.rows["productions"])
    ]
    keys += [f"previews/{TENANT}/{'x' * 32}.1.{hashed}", f"corrections/2026-01-01/{TENANT}/{case.case_id}0.jsonl"]
    for key in keys:
        put_object(case, key, "version", "marker")
    for key in keys[:2]:
        put_object(case, key, "version", "upload")


def put_object(case: FilledCase, key: str, *kinds: str) -> None:
    """Put versions, delete markers and uploads in parts at a key, in this order, and count them."""
    s3, bucket, name = clients.s3(), case.world.bucket, key.partition("/")[0]
    case.keys.append(key)
    for kind in kinds:
        body = secrets.token_bytes(1 + len(case.keys))
        if kind == "version":
            s3.put_object(Bucket=bucket, Key=key, Body=body)
            case.sizes[name] += len(body)
        elif kind == "marker":
            s3.delete_object(Bucket=bucket, Key=key)
        else:
            s3.create_multipart_upload(Bucket=bucket, Key=key)
        case.objects[name, kind] += 1
