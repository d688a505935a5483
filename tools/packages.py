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
FOLDERS = ("functions", "shared", "local", "samples", "tools", "tests", "benchmarks")

_BASE = {"shell.settings", "shell.observability", "shell.deadline", "core"}
_UTILS = {"shell.utils", "shell.db", "shell.aws"} | _BASE
_DOMAIN = {"shell.exhibits", "shell.outbox", "shell.tables", "core.contracts"} | _UTILS
_RESOURCES = {"local.template", "local.errors", "local.private_files", "local.time_scale"}

# By package: the other packages of this repository that its modules may import.
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "core.load_file": {"core"},
    "core.image_load_file": {"core", "core.load_file"},
    "core.imports": {"core", "core.load_file"},
    "core.productions": {"core", "core.load_file"},
    "core.checks": {"core", "core.load_file", "core.productions"},
    "core.volumes": {"core", "core.load_file", "core.checks"},
    "core.contracts": {"core", "core.load_file", "core.imports", "core.productions"},
    "shell.settings": {"core"},
    "shell.deadline": set(),
    "shell.observability": {"core"},
    "shell.prefetch": set(),
    "shell.lambda_handlers": {"shell.aws", "shell.prefetch"} | _BASE,
    "shell.tables": {"core"},
    "shell.migrations": {"shell.tables", "shell.db", "core"},
    "shell.aws": {"shell.prefetch"} | _BASE,
    "shell.db": {"shell.aws"} | _BASE,
    "shell.utils": {"shell.db", "shell.aws"} | _BASE,
    "shell.sns": {"shell.aws"} | _BASE,
    "shell.outbox": {"shell.sns"} | _UTILS,
    "shell.custodian_ops": {"shell.tables"} | _UTILS,
    "shell.taggings_ops": {"shell.tables"} | _UTILS,
    "shell.exhibits": {"shell.custodian_ops", "shell.taggings_ops", "shell.tables", "core.contracts"} | _UTILS,
    "shell.imports": {
        *("core.image_load_file", "core.imports", "core.load_file", "shell.prefetch", "shell.imports.key_files"),
        *("shell.imports.volumes",),
        *_DOMAIN,
    },
    "shell.imports.volumes": {"core.contracts", "core.volumes", "shell.tables"} | _UTILS,
    "shell.imports.key_files": {"shell.prefetch"} | _UTILS,
    "shell.imports.images": {
        *("shell.imports", "shell.imports.chunks", "core.image_load_file", "core.imports", "core.load_file"),
        "core.volumes",
        *_DOMAIN,
    },
    "shell.imports.checks": {
        *("shell.imports", "shell.imports.file_checks", "core.checks", "core.imports", "core.load_file"),
        *("shell.imports.volumes", "core.volumes"),
        *_DOMAIN,
    },
    "shell.imports.file_checks": {"core", "core.checks"},
    "shell.imports.undo": {"shell.imports", "shell.imports.chunks", "core.imports", "core.load_file"} | _DOMAIN,
    "shell.imports.chunks": {
        *("shell.imports", "shell.imports.volumes", "shell.custodian_ops", "shell.taggings_ops"),
        *("core.checks", "core.imports", "core.load_file", "core.volumes"),
        *_DOMAIN,
    },
    "shell.volumes": {"shell.imports", "shell.imports.volumes", "core.imports", "core.volumes", "core.load_file"}
    | _DOMAIN,
    "shell.custody": _DOMAIN,
    "shell.productions": {"shell.sns", "core.productions"} | _DOMAIN,
    "shell.api": {"shell.outbox", "core.contracts"} | _UTILS,
    "shell.maintenance": {"shell.imports.upload_expiry", "shell.outbox.relay", "shell.volumes.deletion"} | _UTILS,
    "functions": {
        *("shell.api", "shell.lambda_handlers", "shell.aws.durable_execution", "shell.outbox", "shell.maintenance"),
        *("shell.imports", "shell.imports.checks", "shell.imports.chunks", "shell.imports.undo"),
        "shell.imports.images",
        *("shell.exhibits", "shell.custody", "shell.productions", "shell.volumes"),
        "core.contracts",
    },
    "local.errors": set(),
    "local.time_scale": set(),
    "local.template": {"local.errors"},
    "local.services": _RESOURCES,
    "local.lambda_runtime": {"local.services"} | _RESOURCES,
    "local.event_sources": {"local.lambda_runtime", "local.services"} | _RESOURCES,
    "local.gateway": {"local.services"} | _RESOURCES,
    "local.stack": {"local.gateway", "local.event_sources", "local.lambda_runtime", "local.services"} | _RESOURCES,
    "local.catalog": {
        *("local.errors", "local.printable", "local.program", "core.errors", "core.caller", "core.contracts"),
        "core.statuses",
        "core.imports.report_files",
        *("shell.exhibits", "shell.imports", "shell.db", "shell.settings"),
    },
    "local.exit_codes": set(),
    "local.private_files": set(),
    "local.program": {"local.errors"},
    "local.printable": set(),
    "local.stack_parts": set(),
    "local.confirmation": {"local.errors"},
    "local.option_advice": {"local.program"},
    "local.undo": {"local.confirmation", "local.errors", "local.private_files", "local.program", "local.stack_parts"},
    # A folder or zip is looked at by the rules of the functions before it is sent.
    "local.volumes": {"core.errors", "core.volumes", "local.errors", "local.private_files", "local.stack_parts"},
    "local.profiles": {"core.imports.profile_options", "local.errors"},
    # A preview reads the local file as the functions read an upload.
    "local.preview": {
        *("core.errors", "core.imports.preview", "core.imports.findings", "core.load_file.dialect", "local.printable"),
        *("core.image_load_file", "local.option_advice", "local.program"),
        *("core.load_file.options", "shell.db.column_limits", "shell.imports.chunks.preview_rows"),
    },
    "local.cli": {
        *("local.confirmation", "local.option_advice", "local.preview", "local.printable", "local.profiles"),
        *("local.exit_codes", "local.program", "local.stack_parts", "local.undo", "local.volumes"),
        *("local.catalog", "local.stack", "local.gateway", "local.lambda_runtime", "local.services"),
        *(
            "core.errors",
            "core.caller",
            "core.codes",
            "core.case_names",
            "core.roles",
            "core.imports.uploads",
            "core.imports.column_report",
            "core.imports.check_summary",
            "core.imports.check_updates",
            "samples",
        ),
        *(
            "core.load_file.options",
            "core.load_file.field_mapping",
            "core.load_file.layout",
            "core.load_mode",
        ),
    }
    | _RESOURCES,
}
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
