"""Rules of each module, read from the source: which way imports point, what only one module may do, how long.

Every rule is also shown a violation, so that none can pass by looking away. What is imported by a name made at run
time is not seen.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import PurePosixPath

import pytest

from tools.packages import ALLOWED, DEPLOYED, home, home_of
from tools.sources import Source, all_sources, imports, parse

DEVELOPMENT = {"exhibit_ingest", "local", "samples", "tools", "tests", "benchmarks"}
HANDLER_IMPORTS = {"aws_lambda_powertools", *DEPLOYED}
CORE_IMPORTS = {"core", "regex", "pydantic"}
CORE_NEVER = {"os", "time", "random", "secrets", "socket", "subprocess", "http", "urllib.request", "sqlite3"}
CORE_NEVER |= {"datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"}
CORE_NEVER |= {"uuid.uuid1", "uuid.uuid4"}
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv"}
SETTINGS = PurePosixPath("shared/shell/settings.py")
LONGEST_HANDLER, LONGEST_MODULE = 60, 300
# SQL text is put together here alone.
LITERALS = {"shell.db.sql_literals", "shell.db.group_concat"}
LITERAL_USERS = (
    "shell.exhibits.updates",
    "shell.families.reading",
    "shell.families.store",
    "shell.imports.chunks.exhibit_store",
    "shell.imports.undo.store",
    "shell.volumes.units",
)


Found = tuple[int, str]
Rule = Callable[[Source], Iterator[Found]]


@cache
def mentions(source: Source) -> list[Found]:
    """Line and full dotted name of what is imported and of every attribute of it that is used."""
    nodes = list(ast.walk(parse(source)))
    names = dict(full_name for node in nodes for full_name in bound_names(node))
    found = [*imports(source)]
    for node in nodes:
        if isinstance(node, ast.Attribute) and (dotted := dotted_name(node)):
            first, _, rest = dotted.partition(".")
            if first in names:
                found.append((node.lineno, f"{names[first]}.{rest}"))
    return found


def bound_names(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def dotted_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted_name(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def within(name: str, allowed: set[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in allowed)


def packages_import_what_they_may(source: Source) -> Iterator[Found]:
    ours = source.folder in ("functions", "shared") or source.module.startswith(("exhibit_ingest.", "local."))
    if not ours or source.module in ("core", "shell", "local", "exhibit_ingest"):
        return
    package = home(source)
    if package is None or source.module == "shell":
        yield 1, "is in no package of tools/packages.py"
        return
    allowed = ALLOWED[package]
    for line, name in imports(source):
        other = home_of(name)
        if name.partition(".")[0] in DEVELOPMENT and source.folder in ("functions", "shared"):
            yield line, f"{package} imports {name}, which is never deployed"
        elif other is None and name.partition(".")[0] in DEPLOYED:
            yield line, f"imports {name}, which is in no package of tools/packages.py"
        elif other not in (None, package) and not (other in allowed or within(name, allowed - set(ALLOWED))):
            yield line, f"{package} imports {name} of {other}"


def sql_text_is_made_in_db(source: Source) -> Iterator[Found]:
    if source.folder in ("functions", "shared") and home(source) != "shell.db" and source.module not in LITERAL_USERS:
        for line, name in imports(source):
            if within(name, LITERALS):
                yield line, f"imports {name}; only shell.db and {', '.join(LITERAL_USERS)} may"


def messages_are_read_in_work(source: Source) -> Iterator[Found]:
    """No member of a message is named but in shell.work; SNS publishes what callers give it."""
    if source.folder not in ("functions", "shared") or home(source) in ("shell.work", "shell.sns", "core"):
        return
    for node in ast.walk(ast.parse(source.text)):
        match node:
            case (
                ast.Subscript(ast.Name("message"), ast.Constant(str()))
                | ast.Attribute(ast.Name("message"), "get")
                | ast.Compare(ast.Constant(str()), [ast.In() | ast.NotIn()], [ast.Name("message")])
            ):
                yield node.lineno, "reads a member of a message; shell.work.messages has a class for each"


def core_decides_and_does_nothing(source: Source) -> Iterator[Found]:
    if not source.module.startswith("core"):
        return
    for line, name in imports(source):
        if name.partition(".")[0] not in sys.stdlib_module_names | CORE_IMPORTS:
            yield line, f"core imports {name}; it may use the standard library, regex, pydantic and itself"
    for line, name in mentions(source):
        if within(name, CORE_NEVER):
            yield line, f"core uses {name}: no network, clock, environment or randomness there"


def handlers_only_call_operations(source: Source) -> Iterator[Found]:
    if source.folder != "functions":
        return
    for line, name in imports(source):
        top = name.partition(".")[0]
        if top not in HANDLER_IMPORTS | sys.stdlib_module_names:
            yield line, f"a handler imports {name}; it needs the shell, contracts and Powertools alone"


def only_settings_reads_the_environment(source: Source) -> Iterator[Found]:
    if source.folder in ("functions", "shared") and source.path != SETTINGS:
        for line, name in mentions(source):
            if within(name, ENVIRONMENT):
                yield line, f"uses {name}; a variable is read in {SETTINGS} and nowhere else"


def import_path_is_not_edited(source: Source) -> Iterator[Found]:
    # What names neither module is not parsed. The fork server takes on the import path of the functions.
    if source.path.name != "fork_server.py" and ("sys" in source.text or "site" in source.text):
        for line, name in mentions(source):
            if within(name, {"sys.path", "site.addsitedir"}):
                yield line, f"uses {name}; import roots are set in pyproject.toml"


def code_does_not_sleep(source: Source) -> Iterator[Found]:
    if source.folder in ("functions", "shared"):
        for line, name in mentions(source):
            if within(name, {"time.sleep", "asyncio.sleep"}):
                yield line, f"uses {name}; waiting is tenacity's, within the deadline"


def modules_stay_short(source: Source) -> Iterator[Found]:
    limit = LONGEST_HANDLER if source.folder == "functions" else LONGEST_MODULE
    length = len(source.text.splitlines())
    # The first migration is as long as the schema.
    if length > limit and "versions" not in source.path.parts:
        yield length, f"has {length} lines, {limit} at most"


def handlers_shadow_nothing(source: Source) -> Iterator[Found]:
    taken = sys.stdlib_module_names | DEVELOPMENT | {"core", "shell"}
    if source.folder == "functions" and source.path.stem in taken:
        yield 1, f"hides the module {source.path.stem}"


RULES: list[Rule] = [
    packages_import_what_they_may,
    sql_text_is_made_in_db,
    messages_are_read_in_work,
    core_decides_and_does_nothing,
    handlers_only_call_operations,
    only_settings_reads_the_environment,
    import_path_is_not_edited,
    code_does_not_sleep,
    modules_stay_short,
    handlers_shadow_nothing,
]


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    return all_sources()


def violations(rule: Rule, sources: list[Source]) -> str:
    return "\n".join(f"{source.path}:{line}: {what}" for source in sources for line, what in rule(source))


@pytest.mark.parametrize("rule", RULES)
def test_the_source_keeps_the_rule(rule: Rule, sources: list[Source]) -> None:
    assert violations(rule, sources) == ""


def test_the_rules_see_both_import_roots(sources: list[Source]) -> None:
    modules = {source.module for source in sources}
    assert {"core.errors", "shell.settings", "start_import", "exhibit_ingest.cli.main", "tools.packages"} <= modules


def test_the_allowed_imports_have_no_circle() -> None:
    ordered: list[str] = []
    while left := [home for home in ALLOWED if home not in ordered]:
        free = [home for home in left if not {home_of(name) for name in ALLOWED[home]} & set(left) - {home}]
        assert free, f"these import each other: {left}"
        ordered += free


def test_every_package_says_what_it_promises(sources: list[Source]) -> None:
    empty = [source.module for source in sources if source.path.stem == "__init__" and home(source)]
    silent = [s.module for s in sources if s.module in empty and not ast.get_docstring(ast.parse(s.text))]
    assert silent == []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (packages_import_what_they_may, "shared/core/productions/bates.py", "from shell import tables"),
        (packages_import_what_they_may, "shared/core/dates.py", "from core.load_file import dialect"),
        (packages_import_what_they_may, "shared/shell/tables/x.py", "from shell.db.session import session"),
        (packages_import_what_they_may, "shared/shell/db/bulk_insert.py", "from shell.imports import start"),
        (packages_import_what_they_may, "shared/shell/db/bulk_insert.py", "from ..imports.start import start_import"),
        (packages_import_what_they_may, "shared/shell/imports/start.py", "from local.services import aws"),
        (packages_import_what_they_may, "shared/shell/imports/start.py", "from shell.custody import queries"),
        (packages_import_what_they_may, "shared/shell/imports/state/access.py", "from shell.imports import start"),
        (packages_import_what_they_may, "shared/shell/work/units.py", "from shell.tables.chunks import ImportChunks"),
        (packages_import_what_they_may, "shared/shell/imports/chunks/x.py", "from shell.imports.start import start"),
        (packages_import_what_they_may, "shared/shell/maintenance/purge.py", "from shell.imports import start"),
        (packages_import_what_they_may, "shared/shell/work/redrive.py", "from shell.tables.imports import Imports"),
        (packages_import_what_they_may, "shared/shell/work/redrive.py", "from shell.imports import start"),
        (packages_import_what_they_may, "shared/shell/work/redrive.py", "from shell.volumes import records"),
        (packages_import_what_they_may, "shared/shell/utils/db_helpers.py", "from shell.work import messages"),
        (packages_import_what_they_may, "functions/start_import.py", "from shell.db import session"),
        (packages_import_what_they_may, "local/template/reader.py", "from local.services import aws"),
        (packages_import_what_they_may, "exhibit_ingest/cli/main.py", "from shell.db import session"),
        (packages_import_what_they_may, "shared/shell/leftovers.py", ""),
        (packages_import_what_they_may, "shared/shell/imports/start.py", "import shell.leftovers"),
        (sql_text_is_made_in_db, "shared/shell/imports/start.py", "from shell.db.sql_literals import format_in_list"),
        (messages_are_read_in_work, "functions/start_import.py", "int(message['import_id'])"),
        (messages_are_read_in_work, "shared/shell/imports/start.py", "message.get('after_chunk', 0)"),
        (messages_are_read_in_work, "functions/complete_import.py", "'undo_no' in message"),
        (core_decides_and_does_nothing, "shared/core/productions/bates.py", "import yaml"),
        (core_decides_and_does_nothing, "shared/core/productions/bates.py", "from os import path"),
        (core_decides_and_does_nothing, "shared/core/x.py", "from datetime import datetime as d\nd.now()"),
        (handlers_only_call_operations, "functions/start_import.py", "import boto3"),
        (handlers_only_call_operations, "functions/start_import.py", "from sqlalchemy.orm import Session"),
        (handlers_only_call_operations, "functions/start_import.py", "import import_chunk"),
        (only_settings_reads_the_environment, "functions/start_import.py", "import os\nos.environ['BUCKET']"),
        (only_settings_reads_the_environment, "shared/shell/sns.py", "from os import getenv"),
        (import_path_is_not_edited, "tests/conftest.py", "import sys\nsys.path.insert(0, '.')"),
        (import_path_is_not_edited, "tools/run.py", "import sys as s\ns.path += ['shared']"),
        (code_does_not_sleep, "shared/shell/imports/start.py", "import time\ntime.sleep(1)"),
        (code_does_not_sleep, "functions/start_import.py", "from time import sleep"),
        (modules_stay_short, "functions/start_import.py", "\n" * 61),
        (modules_stay_short, "tests/unit/test_long.py", "\n" * 301),
        (handlers_shadow_nothing, "functions/email.py", ""),
    ],
)
def test_the_rule_sees_its_violation(rule: Rule, path: str, text: str) -> None:
    assert list(rule(Source(PurePosixPath(path), text))) != []
