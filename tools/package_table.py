"""The table of packages in docs/architecture.md: `python -m tools.package_table` writes it, `--check` compares it.

The texts are the first sentences of the packages' docstrings, so what a package is for is said once, in its code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from tools.generated_parts import replace_part, write_or_check
from tools.packages import ALLOWED
from tools.sources import ROOT, all_sources

ARCHITECTURE = ROOT / "docs" / "architecture.md"
# The folder of the handlers is an import root, not a package, and has no docstring.
HANDLERS = "One Lambda handler per file: decode the event, call one operation, answer."


def describe_packages() -> Iterator[str]:
    """Yield the table: each package of ALLOWED, from the lowest to the highest, then those of development."""
    sources = {source.module: source for source in all_sources()}
    packages = [name for name, source in sources.items() if source.path.stem == "__init__" and name not in ALLOWED]
    yield from ("| package | what it does |", "| --- | --- |")
    for name in (*ALLOWED, *packages):
        yield f"| `{name}` | {first_sentence(sources[name].text) if name in sources else HANDLERS} |"


def first_sentence(source: str) -> str:
    """Return the first sentence of a module's docstring. Raises ValueError if there is none."""
    docstring = ast.get_docstring(ast.parse(source))
    if not docstring:
        raise ValueError("the module has no docstring")
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", paragraph)[0].replace("|", r"\|")


def build_architecture(text: str) -> str:
    """Return the document with the table as the packages are now. Raises ValueError if it has no place for one."""
    return replace_part(text, "packages", "tools/package_table.py", describe_packages())


def main(arguments: list[str] | None = None) -> int:
    """Write the table, or with `--check` compare it with the packages. Return the exit code."""
    return write_or_check(ARCHITECTURE, build_architecture, "tools.package_table", arguments)


if __name__ == "__main__":
    sys.exit(main())
