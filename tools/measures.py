"""Figures of a tree that say how it can be read: its packages, circles, repeated names, untyped messages and lines."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sized
from typing import NamedTuple

from tools.sources import PRODUCT, Source, imports, parse

# What a tool or a framework finds by its name: each entry point has one, each migration stands alone.
INTERFACE = {"main", "lambda_handler", "handle", "app", "OPERATIONS"}
MIGRATIONS = "shell.migrations.versions"
MESSAGE_PARAMETERS = {"message", "event"}
# Requests of API Gateway, custom resources and batches of SQS are AWS's, not messages of this application.
AWS_EVENTS = ("shell.api", "shell.maintenance", "shell.lambda_handlers")

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class PublicName(NamedTuple):
    """A name that a module defines for others."""

    package: str
    module: str
    name: str


def is_product(source: Source) -> bool:
    """Whether a module is built and run, and neither proves nor measures the rest."""
    return source.folder in PRODUCT


def count_modules(sources: Iterable[Source]) -> Counter[str]:
    """How many modules each folder has, without its __init__."""
    return Counter(source.package_name for source in sources if source.path.stem != "__init__")


def count_dependencies(sources: list[Source]) -> Counter[tuple[str, str]]:
    """How many names each package imports from each other package."""
    packages = {source.module: source.package_name for source in sources}
    found = [(source.package_name, packages[name]) for source in sources for name in _import_modules(source, packages)]
    return Counter((package, other) for package, other in found if package != other)


def _import_modules(source: Source, modules: Iterable[str]) -> Iterator[str]:
    for _, name in imports(source):
        if name in modules:
            yield name
        elif (parent := name.rpartition(".")[0]) in modules:
            yield parent


def find_circles(sources: list[Source]) -> list[list[str]]:
    """Modules that import each other, imports for TYPE_CHECKING and in functions included; by Tarjan's algorithm."""
    modules = {source.module for source in sources}
    edges = {source.module: set(_import_modules(source, modules)) - {source.module} for source in sources}
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        stack.append(module)
        for other in edges[module]:
            if other not in numbers:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == numbers[module]:
            circle = stack[stack.index(module) :]
            del stack[-len(circle) :]
            circles.append(sorted(circle))

    for module in edges:
        if module not in numbers:
            visit(module)
    return sorted(circle for circle in circles if len(circle) > 1)


def find_public_names(source: Source) -> Iterator[PublicName]:
    """The public functions, classes and constants that a product's module defines, without those of an interface."""
    if is_product(source) and source.path.stem != "__init__" and source.package_name != MIGRATIONS:
        names = {name for node in parse(source).body for name in _defined(node)} - INTERFACE
        yield from (PublicName(source.package_name, source.module, name) for name in names if name[0] != "_")


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def find_repeated_names(sources: list[Source]) -> dict[tuple[str, str], list[str]]:
    """Package and name -> the modules of the package that define it, of each name with more than one."""
    modules = defaultdict(list)
    for source in sources:
        for found in find_public_names(source):
            modules[found.package, found.name].append(found.module)
    return {key: sorted(found) for key, found in sorted(modules.items()) if len(found) > 1}


def find_message_reads(source: Source) -> list[int]:
    """The lines that read a message by a key, `message["x"]`, `message.get("x")` or `"x" in message`."""
    if source.folder not in ("functions", "shared") or source.module.startswith(AWS_EVENTS):
        return []
    return [node.lineno for node in ast.walk(parse(source)) if isinstance(node, ast.expr) and _reads_message(node)]


def find_message_branches(source: Source) -> list[int]:
    """The lines of a handler that take one way or another by a key of a message."""
    if source.folder != "functions":
        return []
    nodes = ast.walk(parse(source))
    tests = [node.test for node in nodes if isinstance(node, (ast.If, ast.IfExp))]
    return [test.lineno for test in tests if any(_reads_message(node) for node in ast.walk(test))]


def _reads_message(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
            return name in MESSAGE_PARAMETERS
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get")):
            return name in MESSAGE_PARAMETERS
        case ast.Compare(left=ast.Constant(), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            return name in MESSAGE_PARAMETERS
    return False


def count_lines(sources: Iterable[Source]) -> dict[str, int]:
    """Lines of the product, of tests outside test functions, of test functions, and of benchmarks."""
    lines = Counter[str]()
    for source in sources:
        length, test_lines = len(source.text.splitlines()), _count_test_lines(source)
        if is_product(source) or source.folder == "benchmarks":
            lines[source.folder if source.folder == "benchmarks" else "product"] += length
        else:
            lines["test functions"] += test_lines
            lines["harness (tests without test functions)"] += length - test_lines
    return dict(lines)


def _count_test_lines(source: Source) -> int:
    tests = [node for node in ast.walk(parse(source)) if isinstance(node, FUNCTIONS) and node.name.startswith("test")]
    starts = [min([test.lineno, *(mark.lineno for mark in test.decorator_list)]) for test in tests]
    return sum((test.end_lineno or 0) - start + 1 for test, start in zip(tests, starts, strict=True))


def format_packages(sources: list[Source]) -> str:
    """A line for each package of the product: its modules, and the packages that it imports most names from."""
    edges = count_dependencies(sources)
    lines = [f"{'package':30} modules  imports from other packages"]
    for package, count in count_modules(filter(is_product, sources)).items():
        others = {other: names for (start, other), names in edges.items() if start == package}
        to = ", ".join(f"{other} {names}" for other, names in sorted(others.items())) or "nothing"
        lines.append(f"{package:30} {count:7}  {to}")
    return "\n".join([*lines, ""])


def format_figures(sources: list[Source]) -> str:
    """A line for each figure of the product and of the whole tree."""
    product = [source for source in sources if is_product(source)]
    counts, circles = count_modules(product), find_circles(sources)
    repeated = find_repeated_names(sources)
    defined = Counter(found.name for source in sources for found in find_public_names(source))
    twice = [name for name, count in defined.items() if count > 1 and not name.isupper()]
    branches = [source.path.stem for source in product for _ in find_message_branches(source)]
    largest = ", ".join(f"{package} {count}" for package, count in counts.most_common(3))
    figures = {
        "packages": f"{len(counts):,}",
        "modules": f"{counts.total():,}",
        "modules per package": f"{counts.total() / len(counts):.1f} on average; most: {largest}",
        "dependencies between packages": f"{len(count_dependencies(product)):,}",
        "module circles": _list(circles, ["/".join(circle) for circle in circles]),
        "public names defined twice in a package": _list(repeated, [f"{p}: {name}" for p, name in repeated]),
        "functions and classes defined in two modules": f"{len(twice):,}",
        "branches on message keys in handlers": _list(branches, sorted(set(branches))),
        "untyped reads of messages": f"{sum(len(find_message_reads(source)) for source in product):,}",
        **{f"lines of {what}": f"{count:,}" for what, count in count_lines(sources).items()},
    }
    return "\n".join([f"{what:47} {figure}" for what, figure in figures.items()] + [""])


def _list(found: Sized, examples: list[str]) -> str:
    return f"{len(found):,}" + (f" ({', '.join(examples)})" if examples else "")
