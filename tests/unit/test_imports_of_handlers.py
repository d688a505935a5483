"""What each handler loads: of what is heavy nothing but what it uses.

A package that only some invocations need is imported where it is used. One that every invocation needs is imported with
the handler: later it would cost the first request what it costs the start, and on a slower processor.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import import_timing
from benchmarks.import_timing import ROOT, SourceTree

pytestmark = pytest.mark.slow

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
# It serves files and calls nothing.
BARE = "console"
LOADS: dict[str, set[str]] = {
    "activities_api": API | SLOTS,
    "cases_api": API | SLOTS,
    "complete_import": QUEUE,
    "console": set(),
    "custodians_api": API | SLOTS,
    "custody_api": API | SLOTS,
    "exhibits_api": API | SLOTS,
    "exports_api": API | SLOTS,
    "import_checks_api": API | SLOTS,
    "import_chunk": QUEUE | {"core.load_file.rows"},
    "import_results_api": API - {"shell.api.mutations"},
    "imports_api": API | SLOTS,
    "migrate_database": {"alembic"},
    "process_volume": QUEUE,
    "produce": {"aws_durable_execution_sdk_python", "core.contracts", "shell.sns"},
    "production_files_api": API - {"shell.api.mutations"},
    "productions_api": API | SLOTS,
    "profiles_api": API | SLOTS | SPLITTING | {"core.load_file.rows"},
    "publish_outbox": {"shell.sns"},
    "purge_cases": {"pydantic", "core.contracts"},
    "purge_expired": {"shell.sns"},
    "resume_productions": set(),
    "handle_failed_chunk": QUEUE,
    "handle_failed_import": QUEUE | SLOTS,
    "start_import": QUEUE | SLOTS | SPLITTING,
    "start_production": QUEUE,
    "uploads_api": API | SLOTS | SPLITTING | {"core.load_file.rows"},
    "volumes_api": API | SLOTS,
    "write_import_report": QUEUE,
}


# One process has what all need, which takes longest; a copy of it for each handler imports the handler.
FORKING = """
import os, sys
import {everywhere}
before = sys.modules.copy()
for program in {programs!r}:
    if not os.fork():
        exec(program, {{"__name__": "__main__"}})
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, program
print(__import__("json").dumps(sorted(before)))
"""


def load(handlers: Sequence[tuple[str, Path]]) -> list[set[str]]:
    """What each of the handlers, in its folder, loads of HEAVY; of what all need, what our own modules ask for."""
    everywhere, programs = ", ".join(sorted(EVERYWHERE)), []
    for handler, folder in handlers:
        ours = {handler, *(path.stem for path in SOURCES.shared.iterdir())}
        roots = import_timing._PATH.format(roots=[str(folder), str(SOURCES.shared)])
        programs.append(roots + import_timing._RECORDED.format(ours=ours, handler=handler))
    program = FORKING.format(everywhere=everywhere, programs=programs)
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *answers, before = map(json.loads, done.stdout.splitlines())
    assert HEAVY & set(before) == EVERYWHERE
    return [requested_by_modules(answer) | HEAVY & (set(answer["loaded"]) - set(before)) for answer in answers]


def requested_by_modules(answer: dict[str, dict[str, list[str]]]) -> set[str]:
    requested_modules = answer["requested"].items()
    names = {*answer["requested"], *(f"{name}.{each}" for name, imported in requested_modules for each in imported)}
    # With the secrets comes boto3.
    return EVERYWHERE & (names | {"boto3"} if "aws_lambda_powertools.utilities.parameters" in names else names)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each handler loads, and two that are not right."""
    folder, whole = (
        tmp_path_factory.mktemp("functions"),
        (ROOT / "functions" / "resume_productions.py").read_text("utf-8"),
    )
    (folder / "heavier.py").write_text(f"{whole}\nimport alembic\n", "utf-8")
    (folder / "lighter.py").write_text("import json\nimport boto3\n", "utf-8")
    handlers = [*((each, SOURCES.functions) for each in LOADS), ("heavier", folder), ("lighter", folder)]
    return {handler: found for (handler, _), found in zip(handlers, load(handlers), strict=True)}


def test_the_table_has_every_handler() -> None:
    assert sorted(LOADS) == SOURCES.handlers()


@pytest.mark.parametrize("handler", sorted(LOADS))
def test_a_handler_loads_what_it_uses_and_nothing_else_that_is_heavy(handler: str, loaded: dict[str, set[str]]) -> None:
    assert loaded[handler] == LOADS[handler] | (set() if handler == BARE else EVERYWHERE)


def test_what_a_handler_does_not_use_and_what_it_lacks_is_found(loaded: dict[str, set[str]]) -> None:
    assert loaded["heavier"] == EVERYWHERE | {"alembic"}
    assert loaded["lighter"] == {"boto3"}


def test_the_listed_packages_are_those_that_our_own_modules_import(tmp_path: Path) -> None:
    functions, shared = tmp_path / "functions", tmp_path / "shared"
    for folder in (functions, shared / "core"):
        folder.mkdir(parents=True)
    (shared / "core" / "__init__.py").write_text("from yaml import SafeLoader, dump\nimport json\n")
    (functions / "handler.py").write_text("import core\nfrom yaml import load\nimport tenacity\n")
    imported = SourceTree(functions, shared, sys.executable).imported("handler")
    assert imported.bare() == "from yaml import SafeLoader, dump, load\nimport tenacity"
    assert {"json", "yaml.loader"} <= imported.loaded
