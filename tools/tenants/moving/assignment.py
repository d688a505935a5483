"""Which table moves with a tenant, and by which column its rows are found; a test fails for a table without a place.

A row is of the tenant by its own `tenant_id`, or by a row of another table that is. The order is that of insertion:
what a row refers to comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

TENANT = "tenant"


class Scope(NamedTuple):
    """Rows of a table whose `column` has the id of a row of `parent`, or the tenant's name if that is TENANT."""

    table: str
    column: str
    parent: str
    condition: str = "TRUE"


_OF_TENANT = (
    *("cases", "users", "import_profiles", "devices", "imports", "volumes", "productions", "exports"),
    *("tagging_jobs", "activities", "case_changes", "case_aliases"),
)
_OF_CASES = (
    *("custodians", "tags", "exhibit_tombstones", "family_statements", "bates_sequences", "production_numbers"),
)
_OF_IMPORTS = (
    *("exhibits", "page_sets", "texts", "import_splits", "import_chunks", "import_duplicates", "import_rejections"),
    *("import_warnings", "import_name_occurrences", "import_checks", "import_check_findings", "import_check_facts"),
    *("import_undos", "import_undo_parts", "import_undo_kept", "import_undo_others", "import_unchanged"),
    *("import_column_facts", "import_codes", "import_corrections", "import_chunk_files", "page_reconciliations"),
)
_OF_VOLUMES = ("volume_uploads", "volume_files", "volume_units")
_OF_EXHIBITS = ("exhibit_changes", "exhibit_files", "custodian_exhibits", "taggings")


def _list(tables: Sequence[str], column: str, parent: str) -> tuple[Scope, ...]:
    return tuple(Scope(table, column, parent) for table in tables)


# The name of a destination of productions has the id of its case: `get_destination_name` of shell.productions.
_CASE_OF_DESTINATION = "CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(name, ':', 2), ':', -1) AS UNSIGNED)"
MOVED = (
    *_list(_OF_TENANT, "tenant_id", TENANT),
    Scope("idempotency_keys", "tenant_id", TENANT, "status <> 'in_progress'"),
    *_list(_OF_CASES, "case_id", "cases"),
    Scope("insert_destinations", _CASE_OF_DESTINATION, "cases", "name LIKE 'volume:%%'"),
    *_list(("custody_periods", "custody_changes"), "device_id", "devices"),
    *_list(_OF_IMPORTS, "import_id", "imports"),
    *_list(_OF_VOLUMES, "volume_id", "volumes"),
    *_list(("production_documents", "production_steps"), "production_id", "productions"),
    *_list(("export_parts",), "export_id", "exports"),
    *_list(_OF_EXHIBITS, "exhibit_id", "exhibits"),
    # History outlives its document.
    Scope("exhibit_changes", "exhibit_id", "exhibit_tombstones"),
    *_list(("pages",), "page_set_id", "page_sets"),
)
# What stays, and why.
NOT_MOVED = {
    "tenants": "says which stack may write; `load` creates the row, and `switch` changes it",
    **dict.fromkeys(
        ("case_purges", "case_purge_counts", "case_purge_objects", "case_purge_prefixes"),
        "a purge ends where it began, and its certificate is in case_changes",
    ),
    "outbox_events": "all are published before a tenant moves, and none is published again",
    "outbox_state": "belongs to the stack; `load` raises it",
    "semaphores": "locks of work that has ended",
    "semaphore_holders": "locks of work that has ended",
}
# Numbers that were given out: rows are never deleted, and of two values the greater stays.
COUNTERS: dict[str, tuple[str, ...]] = {
    "bates_sequences": ("next_number", "version"),
    "insert_destinations": ("next_position", "fencing_token"),
}
PROFILES = "import_profiles"
# The primary key of parents whose name is not `id`.
KEYS = {"exhibit_tombstones": "exhibit_id"}
# Parents of which a tenant has so many that their ids are not kept in memory.
LARGE = frozenset({"exhibits", "exhibit_tombstones", "page_sets"})
TABLES = tuple(dict.fromkeys(scope.table for scope in MOVED))
