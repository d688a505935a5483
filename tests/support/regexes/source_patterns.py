"""Find every regular expression of our code, where it is compiled and with which methods it is used.

Guaranteed: each call of `re` in `shared/` is in `find_sites`, and `find_patterns` raises AssertionError for one whose
pattern is not found: one in a function is found by calling it.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

SHARED = Path(__file__).parents[3] / "shared"
METHODS = frozenset({"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"})
# How patterns are used that are not called by the name that they are bound to.
_USES = {
    ("shell/api/requests.py", "_ID"): {"fullmatch"},
    ("core/checks/deficiencies.py", "_REWORDED"): {"sub"},
    ("core/dates/written_dates.py", "_FORMS"): {"fullmatch"},
    ("core/load_file/file_signatures.py", "_FORMATS"): {"match"},
    ("core/load_file/header_names.py", "compile_patterns"): {"fullmatch"},
    ("core/load_file/record_stream.py", "_compile_blank_lines"): {"match"},
    ("core/load_file/native_hashes.py", "_NAMES"): {"fullmatch"},
}


class Site(NamedTuple):
    """A call of `re` in a file below `shared/`, from its first to its last line, and what it is bound to."""

    path: str
    line: int
    last_line: int
    function: str
    name: str


@dataclass
class Used:
    """A pattern with the methods that our code calls on it."""

    site: Site
    pattern: re.Pattern[Any]
    methods: set[str] = field(default_factory=set)


def find_sites() -> list[Site]:
    """Return the calls of `re` in our code. Only `re.name(...)` is allowed, so that none is overlooked."""
    return [site for path in sorted(SHARED.rglob("*.py")) for site in _find_sites(path)]


def _find_sites(path: Path) -> Iterator[Site]:
    tree, name = ast.parse(path.read_text("utf-8")), path.relative_to(SHARED).as_posix()
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.ImportFrom) and node.module == "re"), f"{name}: import re, not names from it"
        assert not (isinstance(node, ast.alias) and node.name == "re" and node.asname), f"{name}: import re as re"
        function = _find_function_of_re(node)
        if function and isinstance(node, ast.Call):
            yield Site(name, node.lineno, node.end_lineno or 0, function, _find_name(node, parents))


def _find_function_of_re(node: ast.AST) -> str | None:
    """Return `compile` or the method that a node calls on the module `re`; None for another node."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    is_call = ast.unparse(node.func.value) == "re" and node.func.attr in METHODS | {"compile"}
    return node.func.attr if is_call else None


def _find_name(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """Return the variable, the keyword or the function that a pattern is bound to."""
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.keyword) and node.arg:
            return node.arg
        if isinstance(node, ast.Assign | ast.AnnAssign):
            return ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        if isinstance(node, ast.FunctionDef):
            return node.name
    return ""


def find_patterns() -> list[Used]:
    """Return each pattern of our code once per site, compiled as our code compiles it in a process of its own."""
    command = [
        sys.executable,
        "-c",
        "from tests.support.regexes.source_patterns import print_compiled; print_compiled()",
    ]
    # A process of its own: a module that is imported already compiles nothing.
    done = subprocess.run(
        command, cwd=SHARED.parent, env={"PYTHONPATH": f"shared:{SHARED.parent}"}, capture_output=True, check=True
    )
    compiled = [(str(path), int(line), *rest) for path, line, *rest in json.loads(done.stdout)]
    found = [used for site in find_sites() for used in _find_compiled(site, compiled)]
    missing = set(find_sites()) - {used.site for used in found}
    assert not missing, f"Not compiled by importing; call their functions in _compile_in_functions: {sorted(missing)}"
    return found


def _find_compiled(site: Site, compiled: list[Any]) -> Iterator[Used]:
    methods = {site.function} if site.function != "compile" else _find_uses(site)
    assert methods, f"{site}: used in a way that is not seen; add it to _USES"
    for path, line, text, flags, is_bytes in compiled:
        if path == site.path and site.line <= line <= site.last_line:
            yield Used(site, re.compile(text.encode("latin-1") if is_bytes else text, flags), methods)


def _find_uses(site: Site) -> set[str]:
    """Return the methods that are called on the name of a pattern, on a field of this name or on a function's result.

    A method more of something else with the same name does no harm: the pattern is tested with one method more.
    """
    if (site.path, site.name) in _USES:
        return _USES[site.path, site.name]
    name, methods = re.escape(site.name), "|".join(METHODS)
    own = re.findall(rf"\b{name}(?:\([^()]*\))?\.({methods})\b", (SHARED / site.path).read_text("utf-8"))
    if site.name.startswith("_"):
        return set(own)
    ways = rf"(?:\.{name}|\b{name}\([^()]*\))" if site.name.islower() else rf"\b{name}"
    texts = (path.read_text("utf-8") for path in SHARED.rglob("*.py"))
    return {*own, *(method for text in texts for method in re.findall(rf"{ways}\.({methods})\b", text))}


def print_compiled() -> None:
    """Print what every module of our code compiles when it is imported, and what its functions compile."""
    compiled: set[tuple[str, int, str, int, bool]] = set()
    compile_as_before = re._compile  # type: ignore[attr-defined]

    def record(pattern: Any, flags: int) -> Any:
        made, caller = compile_as_before(pattern, flags), sys._getframe(2)
        if Path(caller.f_code.co_filename).is_relative_to(SHARED):
            path = Path(caller.f_code.co_filename).relative_to(SHARED).as_posix()
            compiled.add((path, caller.f_lineno, *_describe(made)))
        return made

    re._compile = record  # type: ignore[attr-defined]
    for package in ("core", "shell"):
        for module in pkgutil.walk_packages([str(SHARED / package)], f"{package}."):
            # Alembic alone can run its environment.
            if module.name != "shell.migrations.env":
                importlib.import_module(module.name)
    _compile_in_functions()
    re._compile = compile_as_before  # type: ignore[attr-defined]
    print(json.dumps(sorted(compiled | set(_compile_inline()))))


def _describe(pattern: re.Pattern[Any]) -> tuple[str, int, bool]:
    is_bytes = isinstance(pattern.pattern, bytes)
    text = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    return text, int(pattern.flags & ~re.UNICODE), is_bytes


def _compile_in_functions() -> None:
    from core.dates import formats
    from core.imports import error_file
    from core.load_file import delimiters, header_names, list_values, original_lines, quote_recovery, record_stream
    from core.load_file.grammar import Grammar

    for grammar in (Grammar(",", '"', 3, True), Grammar("\x14", "\u00fe", 3, cr_ends=True), Grammar("|", None, 3)):
        # It reads records with qualifiers only.
        if grammar.qualifier:
            quote_recovery._patterns(grammar)
        original_lines._compile_end(grammar)
        error_file._compile_spare_cell(grammar, is_header=True)
        error_file._compile_spare_cell(grammar, is_header=False)
    for form in ("%d.%m.%Y", "%A, %B %d, %y %I:%M:%S.%f %p %z", "%Y%m%d %H%M%Z"):
        formats._compile(form)
    for separator in (";", "|"):
        list_values._compile(separator)
    for encoding in ("utf-8", "utf-16-le"):
        record_stream._compile_blank_lines(encoding, cr_ends=True)
        record_stream._compile_blank_lines(encoding, cr_ends=False)
    header_names.compile_patterns()
    header_names.compile_fallback_id()
    delimiters._find_enclosed_cells('"', ",", [])


def _compile_inline() -> Iterator[tuple[str, int, str, int, bool]]:
    """Yield the patterns of `re.match(...)` and its like, whose first argument is a constant of its module."""
    for path in sorted(SHARED.rglob("*.py")):
        name = path.relative_to(SHARED)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _find_function_of_re(node) not in {None, "compile"}:
                names = vars(importlib.import_module(".".join(name.with_suffix("").parts)))
                # Our own source, not an input.
                text = eval(ast.unparse(node.args[0]), names)  # noqa: S307
                pattern = re.compile(text, re.ASCII if "re.ASCII" in ast.unparse(node) else 0)
                yield (name.as_posix(), node.lineno, *_describe(pattern))
