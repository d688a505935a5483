"""The rules of the house, read from the source: which way imports point, what only one module may do, how long.

Every rule is also shown a violation, so that none can pass by looking away. What is imported by a name made at run
time is not seen.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("functions", "shared", "local", "samples", "tools", "tests", "benchmarks")
DEVELOPMENT = {"local", "samples", "tools", "tests", "benchmarks"}

# functions -> shell/*_ops -> shell/utils -> shell/{tables,settings,observability} -> core
LEVELS = ("core", "shell/{tables,settings,observability}", "shell/utils", "shell/*_ops", "functions")
CORE, FOUNDATION, MECHANISM, OPERATION, FUNCTION = range(5)
SHELL_LEVELS = {
    "tables": FOUNDATION,
    "settings": FOUNDATION,
    "observability": FOUNDATION,
    "invocation": FOUNDATION,
    "durable": FOUNDATION,
    "utils": MECHANISM,
    "migrations": MECHANISM,
    "sns": MECHANISM,
    "http_api": FOUNDATION,
    "http_requests": FOUNDATION,
    "http_problems": FOUNDATION,
}
HANDLER_IMPORTS = {
    "shell.observability",
    "shell.invocation",
    "shell.durable",
    "shell.settings",
    "aws_lambda_powertools",
}
HANDLER_IMPORTS |= {"shell.http_api", "core.contracts"}
CORE_IMPORTS = {"core", "regex", "pydantic"}
CORE_NEVER = {"os", "time", "random", "secrets", "socket", "subprocess", "http", "urllib.request", "sqlite3"}
CORE_NEVER |= {"datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"}
CORE_NEVER |= {"uuid.uuid1", "uuid.uuid4"}
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv"}
SETTINGS = PurePosixPath("shared/shell/settings.py")
LONGEST_HANDLER, LONGEST_MODULE = 60, 300


class Source(NamedTuple):
    """One module: its path from the repository's root, and what stands in it."""

    path: PurePosixPath
    text: str

    @property
    def folder(self) -> str:
        """The top folder: functions, shared, local ..."""
        return self.path.parts[0]

    @property
    def package(self) -> tuple[str, ...]:
        """Where a relative import starts; import roots are functions/, shared/ and the repository."""
        parents = self.path.parts[:-1]
        return parents[1:] if self.folder in ("functions", "shared") else parents

    @property
    def module(self) -> str:
        """The dotted name under which others import it."""
        return ".".join((*self.package, self.path.stem)).removesuffix(".__init__")


Found = tuple[int, str]
Rule = Callable[[Source], Iterator[Found]]


def imports(source: Source) -> Iterator[Found]:
    """Line and dotted name of everything imported; `from a import b` is a.b, for b may be a module."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = source.package[: len(source.package) - node.level + 1] if node.level else ()
            origin = ".".join((*start, *filter(None, [node.module])))
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def mentions(source: Source) -> Iterator[Found]:
    """Line and full dotted name of what is imported and of every attribute of it that is used."""
    yield from imports(source)
    tree = ast.parse(source.text)
    names = dict(full_name for node in ast.walk(tree) for full_name in bound_names(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (dotted := dotted_name(node)):
            first, _, rest = dotted.partition(".")
            if first in names:
                yield node.lineno, f"{names[first]}.{rest}"


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


def level(module: str) -> int | None:
    """Where a module of ours stands in the arrow; None for one that has no place in it."""
    top, _, rest = module.partition(".")
    if top != "shell":
        return CORE if top == "core" else None
    name = rest.partition(".")[0]
    return OPERATION if name.endswith("_ops") else SHELL_LEVELS.get(name)


def imports_point_one_way(source: Source) -> Iterator[Found]:
    if source.folder not in ("functions", "shared") or source.module in ("core", "shell"):
        return
    own = FUNCTION if source.folder == "functions" else level(source.module)
    if own is None:
        yield 1, "has no place in the arrow: a mechanism goes into shell/utils, an operation is named *_ops"
        return
    for line, name in imports(source):
        top = name.partition(".")[0]
        other = level(name)
        if top in DEVELOPMENT:
            yield line, f"{LEVELS[own]} imports {name}, which is never deployed"
        elif top == "shell" and other is None:
            yield line, f"imports {name}, which has no place in the arrow"
        elif other is not None and other > own:
            yield line, f"{LEVELS[own]} imports {name} of {LEVELS[other]}"


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
        ours = level(name) == OPERATION or within(name, HANDLER_IMPORTS)
        if not ours and name.partition(".")[0] not in sys.stdlib_module_names:
            yield line, f"a handler imports {name}; ops, observability, settings and Powertools are what it needs"


def only_settings_reads_the_environment(source: Source) -> Iterator[Found]:
    if source.folder in ("functions", "shared") and source.path != SETTINGS:
        for line, name in mentions(source):
            if within(name, ENVIRONMENT):
                yield line, f"uses {name}; a variable is read in {SETTINGS} and nowhere else"


def nobody_edits_the_import_path(source: Source) -> Iterator[Found]:
    for line, name in mentions(source):
        if within(name, {"sys.path", "site.addsitedir"}):
            yield line, f"uses {name}; import roots are set in pyproject.toml"


def nobody_sleeps(source: Source) -> Iterator[Found]:
    if source.folder in ("functions", "shared"):
        for line, name in mentions(source):
            if within(name, {"time.sleep", "asyncio.sleep"}):
                yield line, f"uses {name}; waiting is tenacity's, within the deadline"


def modules_stay_short(source: Source) -> Iterator[Found]:
    limit = LONGEST_HANDLER if source.folder == "functions" else LONGEST_MODULE
    length = len(source.text.splitlines())
    if length > limit:
        yield length, f"has {length} lines, {limit} at most"


def handlers_shadow_nothing(source: Source) -> Iterator[Found]:
    taken = sys.stdlib_module_names | DEVELOPMENT | {"core", "shell"}
    if source.folder == "functions" and source.path.stem in taken:
        yield 1, f"hides the module {source.path.stem}"


RULES: list[Rule] = [
    imports_point_one_way,
    core_decides_and_does_nothing,
    handlers_only_call_operations,
    only_settings_reads_the_environment,
    nobody_edits_the_import_path,
    nobody_sleeps,
    modules_stay_short,
    handlers_shadow_nothing,
]


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return [Source(PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text("utf-8")) for path in paths]


def violations(rule: Rule, sources: list[Source]) -> str:
    return "\n".join(f"{source.path}:{line}: {what}" for source in sources for line, what in rule(source))


@pytest.mark.parametrize("rule", RULES)
def test_the_source_keeps_the_rule(rule: Rule, sources: list[Source]) -> None:
    assert violations(rule, sources) == ""


def test_no_two_handlers_have_one_name(sources: list[Source]) -> None:
    stems = [source.path.stem for source in sources if source.folder == "functions"]
    assert sorted(stems) == sorted(set(stems))


def test_the_rules_see_both_import_roots(sources: list[Source]) -> None:
    modules = {source.module for source in sources}
    assert {"core.errors", "shell.settings", "start_import", "tests.unit.test_architecture"} <= modules


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (imports_point_one_way, "shared/core/bates.py", "from shell import tables"),
        (imports_point_one_way, "shared/shell/tables.py", "from shell.utils.db_session import session"),
        (imports_point_one_way, "shared/shell/utils/bulk_insert.py", "from shell import import_ops"),
        (imports_point_one_way, "shared/shell/utils/bulk_insert.py", "from ..import_ops import start"),
        (imports_point_one_way, "shared/shell/import_ops.py", "def late():\n    from local import cli"),
        (imports_point_one_way, "shared/shell/leftovers.py", ""),
        (imports_point_one_way, "shared/shell/import_ops.py", "import shell.leftovers"),
        (core_decides_and_does_nothing, "shared/core/bates.py", "import yaml"),
        (core_decides_and_does_nothing, "shared/core/bates.py", "from os import path"),
        (core_decides_and_does_nothing, "shared/core/bates.py", "from datetime import datetime as d\nd.now()"),
        (handlers_only_call_operations, "functions/start_import.py", "import boto3"),
        (handlers_only_call_operations, "functions/start_import.py", "from sqlalchemy.orm import Session"),
        (handlers_only_call_operations, "functions/start_import.py", "from shell.utils import db_session"),
        (handlers_only_call_operations, "functions/start_import.py", "import import_chunk"),
        (only_settings_reads_the_environment, "functions/start_import.py", "import os\nos.environ['BUCKET']"),
        (only_settings_reads_the_environment, "shared/shell/sns.py", "from os import getenv"),
        (nobody_edits_the_import_path, "tests/conftest.py", "import sys\nsys.path.insert(0, '.')"),
        (nobody_edits_the_import_path, "tools/run.py", "import sys as s\ns.path += ['shared']"),
        (nobody_sleeps, "shared/shell/import_ops.py", "import time\ntime.sleep(1)"),
        (nobody_sleeps, "functions/start_import.py", "from time import sleep"),
        (modules_stay_short, "functions/start_import.py", "\n" * 61),
        (modules_stay_short, "tests/unit/test_long.py", "\n" * 301),
        (handlers_shadow_nothing, "functions/email.py", ""),
    ],
)
def test_the_rule_sees_its_violation(rule: Rule, path: str, text: str) -> None:
    assert list(rule(Source(PurePosixPath(path), text))) != []
