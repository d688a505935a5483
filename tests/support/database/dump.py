"""What is in the database, as values that do not depend on the order in which it was written.

Natural keys only: no surrogate ids, no times, no versions; the same for the same import whatever its chunks did.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, text

from core.exhibit_fields import KEYS, TEXTS

Dump = dict[str, list[tuple[Any, ...]]]

QUERIES = {
    "imports": """
        SELECT status, rows_seen, imported, unchanged, updated, rejected, warnings, custodians_created, tags_created,
               encoding, delimiter, qualifier, chunks_left FROM imports WHERE id = :import_id""",
    "exhibits": """
        SELECT {columns}, document_date, document_properties, row_hash, line_no, line_count
        FROM exhibits WHERE case_id = :case_id ORDER BY line_no, control_number""".format(
        columns=", ".join((*KEYS, *TEXTS))
    ),
    "custodians": "SELECT CAST(name AS BINARY), line_no FROM custodians WHERE case_id = :case_id ORDER BY line_no, 1",
    "tags": "SELECT CAST(name AS BINARY), line_no FROM tags WHERE case_id = :case_id ORDER BY line_no, 1",
    "custodian_exhibits": """
        SELECT e.control_number, CAST(c.name AS BINARY), l.user_id FROM custodian_exhibits l
        JOIN exhibits e ON e.id = l.exhibit_id JOIN custodians c ON c.id = l.custodian_id
        WHERE e.case_id = :case_id ORDER BY 1, 2""",
    "taggings": """
        SELECT e.control_number, CAST(t.name AS BINARY), l.user_id FROM taggings l
        JOIN exhibits e ON e.id = l.exhibit_id JOIN tags t ON t.id = l.tag_id
        WHERE e.case_id = :case_id ORDER BY 1, 2""",
    "rejections": """
        SELECT line_no, seq, row_count, column_name, code, message, control_number, byte_start, byte_len
        FROM import_rejections WHERE import_id = :import_id ORDER BY line_no, seq""",
    "warnings": """
        SELECT line_no, seq, column_name, code, message, control_number, original, original_bytes, stored_bytes
        FROM import_warnings WHERE import_id = :import_id ORDER BY line_no, seq""",
}


def logical_dump(engine: Engine, import_id: int) -> Dump:
    """All that one import into its case left behind."""
    with engine.connect() as connection:
        case_id = connection.execute(text("SELECT case_id FROM imports WHERE id = :id"), {"id": import_id}).scalar_one()
        values = {"import_id": import_id, "case_id": case_id}
        return {
            name: [tuple(row) for row in connection.execute(text(query), values)] for name, query in QUERIES.items()
        }
