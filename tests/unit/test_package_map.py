"""Rules between modules, read from the source: circles, names of modules and definitions, the size of a package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

import pytest

from tools.measures import (
    count_modules,
    find_circles,
    find_message_branches,
    find_message_reads,
    find_repeated_names,
    is_product,
)
from tools.sources import Source, all_sources

Rule = Callable[[list[Source]], Iterator[str]]
MOST_MODULES = 25


def modules_import_each_other_never(sources: list[Source]) -> Iterator[str]:
    for circle in find_circles(sources):
        yield f"{' and '.join(circle)} import each other"


def packages_keep_their_word(sources: list[Source]) -> Iterator[str]:
    packages = {source.package for source in sources}
    for source in sources:
        words = source.path.stem.split("_")
        if any((*source.package, "_".join(words[:count])) in packages for count in range(1, len(words) + 1)):
            yield f"{source.path} begins with the name of a package beside it"


def names_are_defined_once(sources: list[Source]) -> Iterator[str]:
    for (_, name), modules in find_repeated_names(sources).items():
        yield f"{name} is defined in {' and '.join(modules)}"


RULES = [modules_import_each_other_never, packages_keep_their_word, names_are_defined_once]


@pytest.mark.parametrize("rule", RULES)
def test_the_modules_keep_the_rule(rule: Rule) -> None:
    assert "\n".join(rule(all_sources())) == ""


def test_no_package_is_a_heap() -> None:
    counts = count_modules(filter(is_product, all_sources()))
    # A handler for each function, and what has landed of the schema, cannot be fewer.
    grown = {package: count for package, count in counts.items() if count > MOST_MODULES}
    assert grown.keys() <= {"functions", "shell.migrations.versions"}, grown


def build_source(path: str, text: str = "") -> Source:
    return Source(PurePosixPath(path), text)


LATE = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shell.db import b"


@pytest.mark.parametrize(
    ("rule", "sources"),
    [
        (
            modules_import_each_other_never,
            [
                build_source("shared/shell/db/a.py", LATE),
                build_source("shared/shell/db/b.py", "def run():\n    from shell.db.c import name"),
                build_source("shared/shell/db/c.py", "import shell.db.a"),
            ],
        ),
        (
            packages_keep_their_word,
            [build_source("shared/shell/imports_of_files.py"), build_source("shared/shell/imports/__init__.py")],
        ),
        (
            names_are_defined_once,
            [build_source("local/stack/a.py", "LIMIT = 1"), build_source("local/stack/b.py", "def LIMIT(): ...")],
        ),
    ],
)
def test_the_rule_sees_its_violation(rule: Rule, sources: list[Source]) -> None:
    assert len(list(rule(sources))) == 1
    assert not any(list(rule([source])) for source in sources)


@pytest.mark.parametrize(
    ("find", "text", "lines"),
    [
        (find_message_reads, 'def f(message):\n    message["x"]\n    return message.get("x"), other["x"]', [2, 3]),
        (find_message_branches, 'if "x" in message:\n    f()\nelif message.task:\n    g(message["x"])', [1]),
        (find_message_branches, 'f() if event.get("x") else g()', [1]),
    ],
)
def test_untyped_messages_are_seen(find: Callable[[Source], list[int]], text: str, lines: list[int]) -> None:
    assert find(build_source("functions/handler.py", text)) == lines
    assert find(build_source("tests/handler.py", text)) == []
