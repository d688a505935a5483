"""What each handler loads: of what is heavy nothing but what it uses.

A package that only some invocations need is imported where it is used. One that every invocation needs is imported with
the handler: later it would cost the first request what it costs the start, and on a slower processor.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

from benchmarks.import_timing import ROOT, SourceTree

SOURCES = SourceTree()
# Loaded by all: the database, its secret (boto3, at the first connection), retries, logs.
EVERYWHERE = {"sqlalchemy.orm", "pymysql", "tenacity", "boto3", "aws_lambda_powertools.utilities.parameters"}
API = {"aws_lambda_powertools.event_handler", "pydantic", "core.contracts", "shell.api.mutations"}
QUEUE = {"aws_lambda_powertools.utilities.batch"}
SLOTS, SPLITTING = {"shell.utils.semaphore"}, {"core.load_file.splitter"}
# Loaded by no handler: what a deployment without Redis or YAML does without; what is only installed; models
# of what is written by statements of its own.
NOWHERE = {"redis", "regex", "aws_xray_sdk", "aws_lambda_powertools.utilities.parser", "yaml"}
NOWHERE |= {"shell.tables.infrastructure", "shell.tables.import_results"}
HEAVY = EVERYWHERE | API | QUEUE | SLOTS | SPLITTING | NOWHERE
HEAVY |= {"alembic", "aws_durable_execution_sdk_python", "shell.sns", "core.load_file.rows"}
LOADS: dict[str, set[str]] = {
    "custodians_api": API | SLOTS,
    "custody_api": API | SLOTS,
    "exhibits_api": API | SLOTS,
    "import_chunk": QUEUE | {"core.load_file.rows"},
    "imports_api": API | SLOTS,
    "migrate_database": {"alembic"},
    "produce": {"aws_durable_execution_sdk_python", "shell.sns"},
    "productions_api": API | SLOTS,
    "publish_outbox": {"shell.sns"},
    "purge_expired": set(),
    "resume_productions": set(),
    "settle_failed_chunk": QUEUE,
    "settle_failed_import": QUEUE | SLOTS,
    "start_import": QUEUE | SLOTS | SPLITTING,
    "start_production": QUEUE,
    "write_import_report": QUEUE,
}


@cache
def loaded(handler: str, sources: SourceTree = SOURCES) -> frozenset[str]:
    return frozenset(HEAVY & sources.imported(handler).loaded)


def test_the_table_has_every_handler() -> None:
    assert sorted(LOADS) == SOURCES.handlers()


@pytest.mark.parametrize("handler", sorted(LOADS))
def test_a_handler_loads_what_it_uses_and_nothing_else_that_is_heavy(handler: str) -> None:
    assert loaded(handler) == EVERYWHERE | LOADS[handler]


def test_what_a_handler_does_not_use_is_found(tmp_path: Path) -> None:
    handler = tmp_path / "purge_expired.py"
    handler.write_text((ROOT / "functions" / handler.name).read_text("utf-8") + "import alembic\n", "utf-8")
    assert loaded("purge_expired", SourceTree(functions=tmp_path)) == EVERYWHERE | {"alembic"}


def test_what_is_asked_for_is_what_our_own_modules_import(tmp_path: Path) -> None:
    functions, shared = tmp_path / "functions", tmp_path / "shared"
    for folder in (functions, shared / "core"):
        folder.mkdir(parents=True)
    (shared / "core" / "__init__.py").write_text("from yaml import SafeLoader, dump\nimport json\n")
    (functions / "handler.py").write_text("import core\nfrom yaml import load\nimport tenacity\n")
    imported = SourceTree(functions, shared, sys.executable).imported("handler")
    assert imported.bare() == "from yaml import SafeLoader, dump, load\nimport tenacity"
    assert {"json", "yaml.loader"} <= imported.loaded
