"""The tables of codes in the documentation: `python -m tools.code_tables` writes them, `--check` compares them.

The texts are those of `core.explanations`, which the command prints too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

from core.explanations.tables import TABLES
from tools.generated_parts import replace_part, write_or_check
from tools.sources import ROOT

DOCUMENTS = {
    "load-files.md": [name for name in TABLES if name != "kept"],
    "correcting-a-load.md": ["kept"],
}


def describe_codes(name: str) -> Iterator[str]:
    """Yield the table of one place, in the order of its codes there."""
    yield from ("| code | what it means | what to do |", "| --- | --- | --- |")
    for code, explanation in TABLES[name].explanations.items():
        yield f"| `{code}` | {explanation.meaning} | {explanation.advice} |"


def build_tables(names: list[str], text: str) -> str:
    """Return a document with these tables as they are now. Raises ValueError if it lacks a place for one."""
    for name in names:
        text = replace_part(text, f"codes of {name}", "tools/code_tables.py", describe_codes(name))
    return text


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or with `--check` compare them with the explanations. Return the exit code."""
    codes = [
        write_or_check(ROOT / "docs" / document, partial(build_tables, names), "tools.code_tables", arguments)
        for document, names in DOCUMENTS.items()
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
