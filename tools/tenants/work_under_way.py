"""What is under way for a tenant, by the rows of its database.

Guaranteed: work that has begun, or that a row requests, is counted. Not guaranteed: uploads and messages that no row
knows of yet; docs/operations.md says how long they can be under way ("A tenant is quiet").
"""

from __future__ import annotations

from tools.tenants.database import Database

# By the word for it: a table, and which of its rows are under way.
_WORK = {
    "imports": ("imports", "status IN ('splitting', 'checking', 'running', 'waiting')"),
    "uploads awaited": ("imports", "status = 'awaiting_upload'"),
    "undos": (
        "import_undos",
        "status IN ('requested', 'running') AND import_id IN (SELECT id FROM imports WHERE tenant_id = :tenant)",
    ),
    "volumes": ("volumes", "status IN ('sealed', 'expanding', 'hashing', 'deleting')"),
    "productions": ("productions", "is_open = 1"),
    "exports": ("exports", "status IN ('requested', 'running')"),
    "tagging jobs": ("tagging_jobs", "status IN ('running', 'counting')"),
    "purges": ("case_purges", "ended_at IS NULL"),
    "reports": (
        "imports",
        "status LIKE 'completed%' AND reports_generation < generation AND finished_at > NOW(6) - INTERVAL 1 DAY",
    ),
    # Dead letters stay, until an operator sends them again.
    "events": ("outbox_events", "published IN (0, 3, 4)"),
    "requests": ("idempotency_keys", "status = 'in_progress' AND lease_until >= NOW(6)"),
}


def count_work(database: Database, tenant: str) -> dict[str, int]:
    """Return how much of each kind of work is under way for a tenant; 0 of each if it is quiet."""
    return {name: _count(database, tenant, *place) for name, place in _WORK.items()}


def _count(database: Database, tenant: str, table: str, condition: str) -> int:
    owned = "" if table == "import_undos" else "tenant_id = :tenant AND "
    statement = f"SELECT COUNT(*) AS counted FROM {table} WHERE {owned}{condition}"  # noqa: S608 - constants
    return int(database.read(statement, tenant=tenant)[0]["counted"])
