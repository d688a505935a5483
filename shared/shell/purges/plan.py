"""The rows of a case: in which order a purge deletes them, and how it finds them. Every table is named here.

Guaranteed: rows come before those by which they are found. Rows by whose ids others are found, and the keys of objects
in what workers of before may still write, are deleted only when no such worker runs any more (`is_last`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Child(NamedTuple):
    """Rows that a parent has: their table, and the columns of the index by which they are read, the parent's first.

    `hint` is that index; `ids` is whether the table has an `id` of its own as its key, which otherwise the columns are.
    """

    table: str
    columns: tuple[str, ...]
    hint: str = "PRIMARY"
    ids: bool = False


class Walk(NamedTuple):
    """Parents, which are read in the order of an index that begins with the case, each with what it has.

    `source` selects them of the case; `columns` are the rest of the index; `id` names them. Without an index that
    begins with the case, those of one import are read after those of another, which `next_import` finds.
    """

    table: str
    source: str
    columns: tuple[str, ...]
    children: tuple[Child, ...] = ()
    id: str = "id"
    is_last: bool = False
    next_import: str = ""


_OF_CASE = "case_id = :case_id"
_OF_TENANT = "tenant_id = :tenant_id AND case_id = :case_id"
_OF_EXHIBITS = (
    Child("production_numbers", ("exhibit_id", "import_id", "production_id", "seq")),
    Child("family_statements", ("exhibit_id", "id"), "ix_family_statements_exhibit", ids=True),
    Child("exhibit_files", ("exhibit_id", "kind", "import_id")),
    Child("custodian_exhibits", ("exhibit_id", "custodian_id")),
    Child("taggings", ("exhibit_id", "tag_id")),
    Child("exhibit_changes", ("exhibit_id", "version")),
)
_BY_LINE = ("import_id", "line_no", "seq")
_BY_CHUNK = ("import_id", "chunk_no")
_OF_IMPORTS = (
    Child("import_splits", ("import_id",)),
    Child("import_check_facts", ("import_id", "chunk_no", "part")),
    Child("import_check_findings", ("import_id", "code", "line_no", "seq")),
    Child("import_checks", ("import_id",)),
    Child("import_chunk_files", _BY_CHUNK),
    Child("import_codes", ("import_id", "chunk_no", "kind", "code", "column_name")),
    Child("import_column_facts", _BY_CHUNK),
    Child("import_corrections", ("import_id", "line_no")),
    Child("import_duplicates", ("import_id", "line_no")),
    Child("import_name_occurrences", ("import_id", "chunk_no", "seq")),
    Child("import_rejections", _BY_LINE),
    Child("import_warnings", _BY_LINE),
    Child("import_unchanged", _BY_CHUNK),
    Child("import_undo_kept", ("import_id", "undo_no", "line_no", "seq")),
    Child("import_undo_others", ("import_id", "undo_no", "chunk_no", "kind", "other_import_id")),
    Child("import_undo_parts", ("import_id", "undo_no", "chunk_no")),
    Child("page_reconciliations", ("import_id",)),
    Child("texts", ("import_id", "line_no"), "uq_texts_line", ids=True),
    Child("import_chunks", _BY_CHUNK),
    Child("import_undos", ("import_id", "undo_no")),
)
# `custody_changes` has no case: what it states of a custodian of the case goes with the custodian.
_OF_CUSTODIANS = (
    Child("custody_periods", ("custodian_id", "id"), "ix_custody_periods_custodian", ids=True),
    Child("custody_changes", ("custodian_id", "id"), "ix_custody_changes_custodian", ids=True),
)
WALKS = (
    Walk(
        "page_sets",
        "page_sets FORCE INDEX (uq_page_sets_line) WHERE import_id = :import_id",
        ("import_id", "line_no"),
        (Child("pages", ("page_set_id", "page_no")),),
        next_import="SELECT i.id FROM imports AS i FORCE INDEX (ix_imports_case) "
        "WHERE i.case_id = :case_id AND i.id > :after AND EXISTS "
        "(SELECT 1 FROM page_sets AS s WHERE s.import_id = i.id) ORDER BY i.id LIMIT 1",
    ),
    Walk(
        "exhibits",
        f"exhibits FORCE INDEX (uq_exhibits_control_number) WHERE {_OF_CASE}",
        ("control_number",),
        _OF_EXHIBITS,
    ),
    Walk(
        "exhibit_tombstones",
        f"exhibit_tombstones FORCE INDEX (ix_exhibit_tombstones_case) WHERE {_OF_CASE}",
        ("control_number", "exhibit_id"),
        _OF_EXHIBITS,
        id="exhibit_id",
    ),
    Walk("tagging_jobs", f"tagging_jobs FORCE INDEX (ix_tagging_jobs_case) WHERE {_OF_TENANT}", ("id",)),
    Walk("custodians", f"custodians FORCE INDEX (uq_custodians_name) WHERE {_OF_CASE}", ("name",), _OF_CUSTODIANS),
    Walk("tags", f"tags FORCE INDEX (uq_tags_name) WHERE {_OF_CASE}", ("name",)),
    Walk("idempotency_keys", f"idempotency_keys FORCE INDEX (ix_idempotency_keys_case) WHERE {_OF_CASE}", ("id",)),
    Walk(
        "productions",
        f"productions FORCE INDEX (ix_productions_case) WHERE {_OF_TENANT}",
        ("id",),
        (
            Child(
                "production_documents",
                ("production_id", "exhibit_id"),
                "uq_production_documents_exhibit",
                ids=True,
            ),
            Child("production_steps", ("production_id", "name")),
        ),
        is_last=True,
    ),
    Walk("bates_sequences", f"bates_sequences FORCE INDEX (uq_bates_sequences_prefix) WHERE {_OF_CASE}", ("prefix",)),
    Walk(
        "insert_destinations",
        "insert_destinations FORCE INDEX (uq_insert_destinations_name) "
        "WHERE name LIKE CONCAT('volume:', :case_id, ':%')",
        ("name",),
    ),
    Walk(
        "exports",
        f"exports FORCE INDEX (ix_exports_case) WHERE {_OF_TENANT}",
        ("id",),
        (Child("export_parts", ("export_id", "part_no")),),
        is_last=True,
    ),
    Walk(
        "volumes",
        f"volumes FORCE INDEX (ix_volumes_case) WHERE {_OF_TENANT}",
        ("id",),
        (
            Child("volume_files", ("volume_id", "file_no"), "uq_volume_files_number", ids=True),
            Child("volume_units", ("volume_id", "unit_no")),
            Child("volume_uploads", ("volume_id", "path_hash")),
        ),
        is_last=True,
    ),
    Walk("imports", f"imports FORCE INDEX (ix_imports_case) WHERE {_OF_CASE}", ("id",), _OF_IMPORTS, is_last=True),
)
# What stays of a case, and why; the certificate says it.
KEPT: Mapping[str, str] = {
    "cases": "The id and dates of the case. Its name is replaced.",
    "case_aliases": "Hashes of the names of the case, by which late uploads are refused.",
    "case_changes": "What was done to the case as a whole, by which user and when; and this certificate.",
    "case_purges": "When the purge began and ended.",
    "activities": "What users did, as ids, counts and codes; never names or content.",
    "outbox_events": "Events, as ids, counts and codes, and of refused uploads the beginning of the key, which may "
    "have the name of the case; deleted 30 days after they were published.",
}
# Tables without data of a case.
WITHOUT_CASES = frozenset(
    {
        *("alembic_version", "devices", "import_profiles", "outbox_state", "semaphore_holders", "semaphores", "users"),
        "tenants",
        # Working tables of the purge, whose rows of a case are deleted at its end.
        *("case_purge_counts", "case_purge_objects", "case_purge_prefixes"),
    }
)


def list_purged() -> Iterator[str]:
    """Yield the tables whose rows of a case are deleted; some more than once."""
    for walk in WALKS:
        yield from (child.table for child in walk.children)
        yield walk.table
