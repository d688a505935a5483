"""Which tables have versions and which need none, and that nothing in the source goes past a version.

A statement that SQLAlchemy's unit of work does not write neither compares a version nor raises it. Those in the source
are found by reading it: what is put together at run time from more than one string is not seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shell.imports.state import progress
from shell.imports.undo import parts
from shell.tables import metadata, models
from shell.volumes import pending_work

ROOT = Path(__file__).parents[3]
EXEMPT = {
    "case_changes": "append-only, but for the notes, which a purge empties",
    "case_aliases": "a key: inserted or found, until a purge takes the name",
    "case_purges": "a state machine under a lock of its row",
    "case_purge_counts": "a counter under a lock of the row of its purge",
    "case_purge_objects": "a journal, which the turn of its purge alone writes",
    "case_purge_prefixes": "append-only",
    "tenants": "under a lock of its row; each change raises the epoch",
    "imports": "a state machine: every step is an UPDATE that names the state it starts from",
    "import_chunks": "a state machine under a lock of its row",
    "import_duplicates": "append-only",
    "import_splits": "under a lock of the row of its import",
    "import_codes": "append-only; counted again under a lock of the row of its import",
    "import_corrections": "a claim under a lock of its row: every UPDATE names who has it",
    "import_rejections": "append-only; a retry removes those of the chunks that it repeats",
    "import_warnings": "append-only",
    "import_name_occurrences": "append-only",
    "import_column_facts": "append-only",
    "import_checks": "under a lock of the row of its import",
    "import_check_findings": "append-only; a retry removes those of the chunks that it repeats",
    "import_check_facts": "append-only, until the check has ended",
    "import_undos": "a state machine under a lock of its row",
    "import_undo_parts": "a state machine under a lock of its row",
    "import_undo_kept": "append-only",
    "import_undo_others": "append-only",
    "import_unchanged": "append-only",
    "activities": "append-only",
    "tagging_jobs": "a state machine under a lock of its row",
    "exports": "a state machine: every UPDATE names the statuses that it leaves",
    "export_parts": "append-only but for bytes that the next part takes, under a lock of part 0",
    "users": "one value, which the last token decides",
    "exhibit_changes": "append-only",
    "exhibit_tombstones": "append-only",
    "volumes": "a state machine under a lock of its row",
    "volume_uploads": "declared once under a lock of the volume's row",
    "volume_files": "append-only; the worker of its unit alone adds what the object is",
    "volume_units": "a state machine under a lock of its row",
    "exhibit_files": "append-only; removed with the import that linked it",
    "import_chunk_files": "append-only",
    "family_statements": "append-only; removed with the import that states it",
    "page_reconciliations": "a counter of attempts, which the last step names, under a lock of the row of its import",
    "page_sets": "append-only",
    "pages": "append-only",
    "texts": "append-only",
    "custodian_exhibits": "a link: there or not",
    "taggings": "a link: there or not",
    "outbox_events": "claimed under a token, which every later step names",
    "outbox_state": "a counter under a lock of its row",
    "insert_destinations": "a counter under a lock of its row, whose fencing_token every writer compares",
    "production_steps": "written by the production's own execution alone, the last state wins",
    "production_numbers": "append-only; removed with the import that states it",
    "production_documents": "a state machine: every step is an UPDATE that names the production and its state",
    "idempotency_keys": "claimed by an owner and attempt, which every later step names",
    "custody_changes": "append-only",
    "semaphores": "a counter under a lock of its row",
    "semaphore_holders": "inserted and deleted by the holder's token",
}
# How many statements of a module follow one that raises the versions of the same rows, or inserts them.
FOLLOWING = {"shared/shell/imports/undo/pages.py": 1, "shared/shell/exhibits/texts.py": 1}
# How many set a column that has no version: the last writer decides.
LAST_DECIDES = {"shared/shell/custody/devices.py": 1}
# How many fill in the names of tables that need no version.
FILLED_IN = {
    "shared/shell/work/units.py": 2,
    "shared/shell/imports/state/claims.py": 2,
    "shared/shell/purges/fence.py": 1,
}
ALLOWED = {**FOLLOWING, **LAST_DECIDES, **FILLED_IN}
TABLES = {mapper.local_table.name: mapper for mapper in models().mappers}  # type: ignore[attr-defined]
VERSIONED = {name for name, mapper in TABLES.items() if mapper.version_id_col is not None}
CLASSES = {TABLES[name].class_.__name__ for name in VERSIONED}

# `{}` stands where a name is filled in: it may be a versioned table's.
UPDATE = re.compile(r"(?<!FOR )(?<!KEY )\bUPDATE\b(?P<rest>.*)", re.DOTALL)
TABLE = re.compile(r"^UPDATE (\w+)")
UPSERT = re.compile(r"\bON DUPLICATE KEY UPDATE\b(?P<rest>.*)", re.DOTALL)
RAISED = re.compile(r"\b(?:\w+\.)?version = (?:\w+\.)?version \+ 1\b")
CHANGES_NOTHING = re.compile(r"\s*(\w+|\{\}) = \1\s*$")


def statements(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every string, with `{}` for what is filled in; of parts of one string only the whole."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def docstrings(tree: ast.AST) -> set[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners)]
    firsts = [body[0].value for body in bodies if body and isinstance(body[0], ast.Expr)]
    return {first.lineno for first in firsts if isinstance(first, ast.Constant)}


def passes_by(sql: str) -> bool:
    """Whether it may change a row of a versioned table and leave its version as it is."""
    if upsert := UPSERT.search(sql):
        into = re.search(r"\bINTO\s+(\w+)", sql[: upsert.start()])
        other = into is not None and into.group(1) in EXEMPT
        return not (other or CHANGES_NOTHING.match(upsert["rest"]) or RAISED.search(upsert["rest"]))
    if not (found := UPDATE.search(sql)):
        return False
    tables = set(re.findall(r"\w+|\{\}", found["rest"].partition(" SET ")[0]))
    named = tables & set(EXEMPT) and not tables & (VERSIONED | {"{}"})
    return not (named or RAISED.search(found["rest"]))


def calls_that_pass_by(tree: ast.AST) -> Iterator[int]:
    """Lines of `update(Exhibits)` and of bulk updates of such a class; what it sets makes no difference."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        near = [*node.args, *([receiver] if name == "update" and receiver else [])]
        classes = {part.id for each in near for part in ast.walk(each) if isinstance(part, ast.Name)}
        if name in ("update", "bulk_update_mappings", "bulk_save_objects") and classes & CLASSES:
            yield node.lineno


def assigned_versions(tree: ast.AST) -> Iterator[int]:
    """Lines that assign an attribute `version`, which takes it back to what was read long ago."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr == "version":
                yield target.lineno


def found_in(source: str) -> list[int]:
    """The lines of a module that go past a version."""
    tree = ast.parse(source)
    texts = docstrings(tree)
    past = [line for line, sql in statements(tree) if line not in texts and passes_by(sql)]
    return sorted([*past, *calls_that_pass_by(tree), *assigned_versions(tree)])


def test_every_table_has_versions_that_start_at_one_or_a_reason_to_have_none() -> None:
    assert set(EXEMPT).isdisjoint(VERSIONED)
    assert set(EXEMPT) | VERSIONED == set(metadata().tables)
    assert {"exhibits", "custodians", "tags", "devices", "custody_periods"} <= VERSIONED
    for name in VERSIONED:
        column = metadata().tables[name].c.version
        assert column is TABLES[name].version_id_col
        assert not column.nullable
        assert str(getattr(column.server_default, "arg", None)) == "1"


def test_nothing_in_the_source_goes_past_a_version() -> None:
    sources = {path: path.read_text("utf-8") for path in sorted((ROOT / "shared").rglob("*.py"))}
    assert any("kept.version = kept.version + 1" in source for source in sources.values())
    found = {str(path.relative_to(ROOT)): found_in(source) for path, source in sources.items()}
    assert {path: lines for path, lines in found.items() if len(lines) != ALLOWED.get(path, 0)} == {}


def test_units_of_work_are_rows_of_tables_that_need_no_version() -> None:
    kinds = (progress.CHUNKS, parts.PARTS, pending_work.UNITS)
    names = {name for kind in kinds for sql in (kind.store, str(kind.count_down)) for name in TABLE.findall(sql)}
    assert len(names) == 2 * len(kinds)
    assert names <= EXEMPT.keys()


@pytest.mark.parametrize(
    "planted",
    [
        'text("UPDATE exhibits SET title = :title WHERE id = :id")',
        'text("UPDATE tags " "SET name = :name")',
        "text(\"UPDATE imports JOIN tags ON tags.import_id = imports.id SET tags.name = ''\")",
        'text(f"UPDATE {table} SET name = :name")',
        'text(f"UPDATE JSON_TABLE(:rows) AS w JOIN {kind} AS kept SET kept.name = w.name")',
        '"UPDATE " + table',
        'text("UPDATE custodians SET version = :version")',
        'text("INSERT INTO tags (name) VALUES (:name) ON DUPLICATE KEY UPDATE name = VALUES(name)")',
        'f"INSERT INTO {table} VALUES (1) ON DUPLICATE KEY UPDATE name = VALUES(name)"',
        "session.execute(update(Exhibits).where(Exhibits.id == 1).values(title=''))",
        "session.execute(sqlalchemy.update(Tags), rows)",
        "session.query(Custodians).filter_by(id=1).update({'name': ''})",
        "session.bulk_update_mappings(Exhibits, rows)",
        "exhibit.version = client_version",
        "exhibit.version += 1",
    ],
)
def test_what_goes_past_a_version_is_found(planted: str) -> None:
    assert found_in(f"'''A module.'''\n\n{planted}\n") == [3]


@pytest.mark.parametrize(
    "sound",
    [
        'text("UPDATE exhibits SET title = :title, version = version + 1 WHERE id = :id")',
        'text("UPDATE imports SET status = :status")',
        'text("SELECT id FROM exhibits FOR UPDATE")',
        'f"{insert} ON DUPLICATE KEY UPDATE {same} = {same}"',
        'text("INSERT INTO semaphores (name) VALUES (:n) ON DUPLICATE KEY UPDATE fencing_token = fencing_token + 1")',
        "values.update(rows)",
        "version = exhibit.version",
    ],
)
def test_what_keeps_to_versions_is_not(sound: str) -> None:
    assert found_in(sound) == []
