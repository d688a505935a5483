"""The Python modules of this repository, or of another tree of it, and what each of them imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# What is built and run, then what proves and measures it.
PRODUCT = ("functions", "shared", "exhibit_ingest", "local", "samples", "tools")
FOLDERS = (*PRODUCT, "tests", "benchmarks")


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
    def package_name(self) -> str:
        """The folder that it lies in, dotted: `functions` for a handler, `shell.db`, `tests.unit`."""
        return "functions" if self.folder == "functions" else ".".join(self.package)


@cache
def parse(source: Source) -> ast.Module:
    """Parse a module once."""
    return ast.parse(source.text)


def all_sources(root: Path = ROOT) -> list[Source]:
    """Every Python module of the tree at `root`, in the order of their paths."""
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))
    return [Source(PurePosixPath(path.relative_to(root).as_posix()), path.read_text("utf-8")) for path in paths]


@cache
def imports(source: Source) -> list[tuple[int, str]]:
    """Line and dotted name of everything imported; `from a import b` is a.b, because b may be a module."""
    return list(_find_imports(source))


def _find_imports(source: Source) -> Iterator[tuple[int, str]]:
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = source.package[: len(source.package) - node.level + 1] if node.level else ()
            origin = ".".join((*start, *filter(None, [node.module])))
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
