"""The packages of this repository, their modules and the packages that they may import.

`python -m tools.packages` prints them as a table. tests/unit/test_architecture.py enforces ALLOWED.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("functions", "shared", "exhibit_ingest", "local", "samples", "tools", "tests", "benchmarks")

# What may import what, from the lowest package to the highest: `package: packages and modules that it may import`.
# A word in capitals is a line of its own above.
_RULES = """
BASE: shell.settings shell.observability shell.deadline core
UTILS: shell.utils shell.db shell.aws BASE
DOMAIN: shell.exhibits shell.outbox shell.tables shell.work core.contracts UTILS
core:
core.load_file: core
core.image_load_file: core core.load_file
core.imports: core core.load_file
core.productions: core core.load_file
core.checks: core core.load_file core.productions
core.volumes: core core.load_file core.checks
core.contracts: core core.load_file core.imports core.productions
shell.settings: core
shell.deadline:
shell.observability: core
shell.prefetch:
shell.lambda_handlers: shell.aws shell.prefetch BASE
shell.tables: core
shell.migrations: shell.tables shell.db core
shell.aws: shell.prefetch BASE
shell.db: shell.aws BASE
shell.utils: shell.db shell.aws core.image_load_file.tiff BASE
shell.sns: shell.aws BASE
shell.work: UTILS
shell.outbox: shell.sns shell.work UTILS
shell.custodian_ops: shell.tables UTILS
shell.taggings_ops: shell.tables UTILS
shell.exhibits: shell.custodian_ops shell.taggings_ops shell.tables core.contracts core.imports.overlay UTILS
shell.volume_files: core.contracts core.load_file core.volumes shell.tables UTILS
shell.imports.state: core.imports core.load_file DOMAIN
shell.imports.splitting: shell.imports.state
  core.imports core.load_file core.image_load_file shell.prefetch DOMAIN
shell.imports.chunks: shell.imports.state shell.volume_files shell.custodian_ops shell.taggings_ops
  core.checks core.imports core.load_file core.volumes DOMAIN
shell.imports.images: shell.imports.state shell.imports.splitting shell.imports.chunks shell.volume_files
  core.image_load_file core.imports core.load_file core.volumes DOMAIN
shell.imports.undo: shell.imports.state shell.imports.chunks shell.volume_files core.imports core.load_file DOMAIN
shell.imports.completing: shell.imports.state shell.volume_files core.imports core.load_file DOMAIN
shell.imports.checks: shell.imports.state shell.imports.completing shell.volume_files
  core.checks core.imports core.load_file core.volumes DOMAIN
shell.imports: shell.imports.state shell.imports.splitting shell.imports.chunks shell.imports.images
  shell.imports.undo shell.imports.completing shell.imports.checks shell.volume_files
  core.image_load_file core.imports core.load_file shell.prefetch DOMAIN
shell.volumes: shell.imports shell.imports.state shell.volume_files core.imports core.volumes core.load_file DOMAIN
shell.custody: DOMAIN
shell.productions: shell.sns core.productions DOMAIN
shell.api: shell.outbox core.contracts UTILS
shell.maintenance: shell.imports.upload_expiry shell.outbox.relay shell.volumes.deletion UTILS
functions: shell.api shell.lambda_handlers shell.work shell.aws.durable_execution shell.outbox shell.maintenance
  shell.imports shell.imports.completing shell.imports.checks shell.imports.chunks shell.imports.undo
  shell.imports.images shell.exhibits shell.custody shell.productions shell.volumes core.contracts
local.errors:
local.time_scale:
local.private_files:
RESOURCES: local.template local.errors local.private_files local.time_scale
local.template: local.errors
local.services: RESOURCES
local.lambda_runtime: local.services RESOURCES
local.event_sources: local.lambda_runtime local.services RESOURCES
local.gateway: local.services RESOURCES
local.stack: local.gateway local.event_sources local.lambda_runtime local.services RESOURCES
exhibit_ingest: local.errors core.imports.profile_options
exhibit_ingest.catalog: exhibit_ingest local.errors core core.contracts core.imports.report_files
  shell.exhibits shell.imports shell.db shell.settings
exhibit_ingest.undo: exhibit_ingest local.errors local.private_files
exhibit_ingest.volumes: exhibit_ingest core.errors core.volumes local.errors local.private_files
exhibit_ingest.preview: exhibit_ingest core core.imports.preview core.imports.findings core.load_file
  core.image_load_file shell.db.column_limits shell.imports.chunks.preview_rows
exhibit_ingest.cli: exhibit_ingest exhibit_ingest.catalog exhibit_ingest.preview exhibit_ingest.undo
  exhibit_ingest.volumes local.stack local.gateway local.lambda_runtime local.services RESOURCES
  core core.imports core.load_file samples
"""


def _read_rules(rules: str) -> dict[str, set[str]]:
    read: dict[str, set[str]] = {}
    for line in rules.replace("\n  ", " ").strip().splitlines():
        package, names = line.split(":")
        read[package] = set().union(*(read[name] if name.isupper() else {name} for name in names.split()))
    return {package: names for package, names in read.items() if not package.isupper()}


# By package: the other packages of this repository that its modules may import.
ALLOWED = _read_rules(_RULES)
DEPLOYED = ("functions", "core", "shell")


class Source(NamedTuple):
    """One module: its path from the repository's root, and its text."""

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

    @property
    def home(self) -> str | None:
        """The key of ALLOWED that it belongs to."""
        return "functions" if self.folder == "functions" else home_of(self.module)


def all_sources() -> list[Source]:
    """Every Python module of the repository, in the order of their paths."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return [Source(PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text("utf-8")) for path in paths]


def home_of(name: str) -> str | None:
    """The package of ALLOWED that a dotted name belongs to; None for a name that is not in one."""
    parts = name.split(".")
    # A module directly in `core` is the package `core`; one directly in `shell` or `local` is listed by its own name.
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in ALLOWED), None)


@cache
def imports(source: Source) -> list[tuple[int, str]]:
    """Line and dotted name of everything imported; `from a import b` is a.b, because b may be a module."""
    return list(_find_imports(source))


def _find_imports(source: Source) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = source.package[: len(source.package) - node.level + 1] if node.level else ()
            origin = ".".join((*start, *filter(None, [node.module])))
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def module_counts(sources: list[Source]) -> Counter[str]:
    """How many modules each package has, without its __init__."""
    return Counter(source.home for source in sources if source.home and source.path.stem != "__init__")


def dependencies(sources: list[Source]) -> Counter[tuple[str, str]]:
    """How many names each package imports from each other package."""
    found = ((source.home, home_of(name)) for source in sources if source.home for _, name in imports(source))
    return Counter((home, other) for home, other in found if home and other and home != other)


def main() -> None:
    """Print the modules of each package and the packages that it imports."""
    sources = all_sources()
    counts, edges = module_counts(sources), dependencies(sources)
    sys.stdout.write("package, modules -> imported packages with the number of imported names\n")
    for home, count in counts.items():
        to = ", ".join(f"{other} {names}" for (start, other), names in sorted(edges.items()) if start == home)
        sys.stdout.write(f"{home:22} {count:3}  -> {to or 'nothing'}\n")
    sys.stdout.write(f"{len(counts)} packages, {sum(counts.values())} modules, {len(edges)} dependencies\n")


if __name__ == "__main__":
    main()
