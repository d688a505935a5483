"""The generated parts of docs/schema.md: `python -m tools.schema_document` writes them, `--check` compares them.

The texts are the comments of the models, which are also the comments in the database. A reference in a comment, such as
"cases.id", is a line of the diagram: only a few of them are foreign keys, because those would serialize the chunks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlalchemy import Column, ColumnElement, Index, Table, UniqueConstraint
from sqlalchemy.dialects import mysql

from shell.tables import metadata
from tools.generated_parts import replace_part, write_or_check

SCHEMA_DOCUMENT = Path(__file__).parent.parent / "docs" / "schema.md"
SUBJECTS = {
    "Documents": (
        *("cases", "exhibits", "exhibit_changes", "texts", "custodians", "custodian_exhibits", "tags", "taggings"),
        *("family_statements", "tagging_jobs"),
    ),
    "Imports": (
        *("imports", "import_splits", "import_chunks", "import_duplicates", "import_rejections", "import_warnings"),
        *("import_name_occurrences", "import_checks", "import_check_findings", "import_check_facts"),
        *("import_profiles", "import_undos", "import_undo_parts", "import_undo_kept", "exhibit_tombstones"),
        *("import_undo_others", "import_unchanged", "import_column_facts", "import_codes", "import_corrections"),
    ),
    "Volumes": (
        *("volumes", "volume_uploads", "volume_files", "volume_units", "exhibit_files", "import_chunk_files"),
        *("page_sets", "pages", "page_reconciliations"),
    ),
    "Productions": (
        *("productions", "production_steps", "production_documents", "production_numbers", "bates_sequences"),
        "insert_destinations",
    ),
    "Custody": ("devices", "custody_periods", "custody_changes"),
    "Cases": (
        *("case_changes", "case_aliases", "case_purges", "case_purge_counts", "case_purge_objects"),
        "case_purge_prefixes",
    ),
    "Tenants and users": ("tenants", "users"),
    "Exports": ("exports", "export_parts"),
    "Activities": ("activities",),
    "Coordination": ("outbox_events", "outbox_state", "idempotency_keys", "semaphores", "semaphore_holders"),
}
_REFERENCE = re.compile(r"\b([a-z_]+)\.([a-z_]+)\b")
_DIALECT = mysql.dialect()


def describe_relations() -> Iterator[str]:
    """Yield the diagram: a line for each table, and for each column whose comment names a column of another table."""
    tables = metadata().tables
    yield from ("```mermaid", "erDiagram")
    for name in (name for names in SUBJECTS.values() for name in names):
        yield f"    {name}"
        for column in tables[name].columns:
            for other, key in _REFERENCE.findall(column.comment or ""):
                if other in tables and key in tables[other].columns:
                    yield f"    {other} {'|o' if column.nullable else '||'}--o{{ {name} : {column.name}"
    yield "```"


def describe_tables() -> Iterator[str]:
    """Yield the tables by subject, each with its columns."""
    blank = ""
    for subject, names in SUBJECTS.items():
        yield from (f"### {subject}", blank)
        for name in names:
            yield from _describe_table(metadata().tables[name])
            yield blank


def _describe_table(table: Table) -> Iterator[str]:
    yield from (f"#### `{table.name}`", "", str(table.comment), "")
    yield from ("| column | type | meaning |", "| --- | --- | --- |")
    for column in table.columns:
        yield f"| `{column.name}` | {_describe_type(column)} | {column.comment} |"
    yield from ("", f"{'; '.join(_describe_keys(table))}.")


def _describe_keys(table: Table) -> Iterator[str]:
    """Yield the primary key, unique keys, indexes and foreign keys; columns as in `name, case_id`."""
    yield f"Primary key: {_join(table.primary_key.columns)}"
    for unique in sorted((each for each in table.constraints if isinstance(each, UniqueConstraint)), key=_name):
        yield f"unique: {_join(unique.columns)}"
    for index in sorted(table.indexes, key=_name):
        yield f"{'unique' if index.unique else 'index'}: {_join(index.columns)}"
    for column in table.columns:
        for key in column.foreign_keys:
            yield f"foreign key: {column.name} to {key.target_fullname}"


def _name(part: Index | UniqueConstraint) -> str:
    return str(part.name)


def _join(columns: Iterable[ColumnElement[object]]) -> str:
    return ", ".join(str(getattr(column, "name", column)) for column in columns)


def _describe_type(column: Column[object]) -> str:
    kind = str(column.type.compile(dialect=_DIALECT)).partition(" COLLATE")[0].lower()
    return kind + (", null" if column.nullable else "")


def build_schema_document(text: str) -> str:
    """Return the document with its generated parts as the models are now. Raises ValueError if one is missing."""
    for part, lines in (("diagram", describe_relations()), ("tables", describe_tables())):
        text = replace_part(text, part, "tools/schema_document.py", lines)
    return text


def main(arguments: list[str] | None = None) -> int:
    """Write docs/schema.md, or with `--check` compare it with the models. Return the exit code."""
    return write_or_check(SCHEMA_DOCUMENT, build_schema_document, "tools.schema_document", arguments)


if __name__ == "__main__":
    sys.exit(main())
