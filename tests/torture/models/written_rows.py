"""The rows of an import in tables that a check must not write to."""

from __future__ import annotations

from tests.support.database.committed_state import Queried

# Tables whose rows name the import that wrote them. The split writes the warnings about the whole file, of line 0.
WRITTEN = ("exhibits", "custodians", "tags", "import_rejections", "import_warnings WHERE line_no > 0 AND")


def count_written(at: Queried, import_id: int) -> dict[str, int]:
    """Return how many rows an import has written into tables that a check must not write to; empty without any."""
    written = {}
    for table in WRITTEN:
        condition = table if "WHERE" in table else f"{table} WHERE"
        count = at.query(f"SELECT COUNT(*) FROM {condition} import_id = :id", id=import_id)[0][0]
        if count:
            written[table.split()[0]] = int(count)
    return written
