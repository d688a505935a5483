"""What a case has: its rows in every table, and its objects, found by names of columns and keys alone.

Nothing of the application is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.database.committed_state import Queried
from tests.torture.plans.purges import PurgePlan

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# What the certificate says that is kept, and the working tables of the purge.
KEPT = frozenset({"cases", "case_aliases", "case_changes", "case_purges", "activities", "outbox_events"})
WORKING = ("case_purge_counts", "case_purge_objects", "case_purge_prefixes")
# By the column that names it: the tables that have what belongs to the case. The first column that a table has tells.
OWNERS = {
    "exhibit_id": ("exhibits", "id"),
    "page_set_id": ("page_sets", "id"),
    "import_id": ("imports", "id"),
    "volume_id": ("volumes", "id"),
    "production_id": ("productions", "id"),
    "export_id": ("exports", "id"),
    "custodian_id": ("custodians", "id"),
    "tag_id": ("tags", "id"),
}
_COLUMNS = (
    "SELECT c.table_name AS of_table, c.column_name AS name FROM information_schema.columns AS c "
    "JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name "
    "WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name"
)
_BY_NAME, _BY_ID = ("imports", "options", "files", "volumes", "archives"), ("texts", "exports")


class CaseContents(NamedTuple):
    """The ids of what a case has, by the columns that name them; its rows by table; its objects by kind and what."""

    ids: Mapping[str, Sequence[int]]
    rows: Counter[str]
    objects: Counter[tuple[str, str]]


@dataclass
class PurgeCourse:
    """What was done to a case, by clients of these names.

    It had `before` when its purge was requested, which may begin `after`; since then so many requests were answered.
    """

    plan: PurgePlan
    clients: frozenset[str]
    case_id: int = 0
    before: CaseContents | None = None
    requests_since: int = 0
    certificate: dict[str, Any] = field(default_factory=dict)


def read_contents(at: Queried, s3: S3Client, bucket: str, tenant: str, name: str, case_id: int) -> CaseContents:
    """Return what a case has now."""
    ids = {column: _read_ids(at, table, case_id) for column, (table, _) in OWNERS.items()}
    stones = at.query("SELECT exhibit_id FROM exhibit_tombstones WHERE case_id = :id", id=case_id)
    ids["exhibit_id"] = [*ids["exhibit_id"], *(row[0] for row in stones)]
    objects = count_objects(s3, bucket, list_prefixes(tenant, name, case_id, ids["import_id"]))
    return CaseContents(ids, count_rows(at, case_id, ids), objects)


def _read_ids(at: Queried, table: str, case_id: int) -> list[int]:
    return [row[0] for row in at.query(f"SELECT id FROM {table} WHERE case_id = :id", id=case_id)]


def count_rows(at: Queried, case_id: int, ids: Mapping[str, Sequence[int]]) -> Counter[str]:
    """Return how many rows each table has that belong to the case, or to what it has or had."""
    columns: dict[str, set[str]] = {}
    for row in at.query(_COLUMNS):
        columns.setdefault(row.of_table, set()).add(row.name)
    found: Counter[str] = Counter()
    for table, names in columns.items():
        condition = _build_condition(table, names, ids)
        if condition and table not in KEPT and table not in WORKING:
            found[table] = at.query(f"SELECT COUNT(*) FROM {table} WHERE {condition}", id=case_id)[0][0]
    return +found


def _build_condition(table: str, names: set[str], ids: Mapping[str, Sequence[int]]) -> str:
    if table == "insert_destinations":
        return "name LIKE CONCAT('volume:', :id, ':%')"
    if "case_id" in names:
        return "case_id = :id"
    column = next((each for each in OWNERS if each in names), "")
    return f":id AND {column} IN ({', '.join(map(str, (0, *ids[column])))})" if column else ""


def list_prefixes(tenant: str, name: str, case_id: int, imports: Sequence[int]) -> Iterator[str]:
    """Yield the beginnings of the keys of a case."""
    yield from (f"{kind}/{tenant}/{name}/" for kind in _BY_NAME)
    yield from (f"{kind}/{tenant}/{case_id}/" for kind in _BY_ID)
    yield from (f"{kind}/{each}/" for each in imports for kind in ("reports", "splits"))


def count_objects(s3: S3Client, bucket: str, prefixes: Iterator[str]) -> Counter[tuple[str, str]]:
    """Return versions, their bytes, delete markers and uploads in parts, by the first part of their keys."""
    found: Counter[tuple[str, str]] = Counter()
    for prefix in prefixes:
        kind, listed = prefix.partition("/")[0], s3.list_object_versions(Bucket=bucket, Prefix=prefix)
        versions = listed.get("Versions", [])
        found[kind, "versions"] += len(versions)
        found[kind, "bytes"] += sum(each["Size"] for each in versions)
        found[kind, "deleteMarkers"] += len(listed.get("DeleteMarkers", []))
        uploads = s3.list_multipart_uploads(Bucket=bucket, Prefix=prefix).get("Uploads", [])
        found[kind, "multipartUploads"] += sum(each["Key"].startswith(prefix) for each in uploads)
    return +found
