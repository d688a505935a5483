"""The tables of codes in the documentation and of the command: `python -m tools.code_tables` writes them.

`--check` compares them. The texts are those of `core.explanations`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial

from core.checks.deficiencies import DEFICIENT
from core.explanations.tables import TABLES
from tools.generated_parts import replace_part, write_or_check
from tools.sources import ROOT

DOCUMENTS = {
    "load-files.md": [name for name in TABLES if name != "kept"],
    "correcting-a-load.md": ["kept"],
}
OF_COMMAND = ROOT / "exhibit_ingest" / "explained_codes.json"


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


def build_codes(_: str) -> str:
    """Return the tables for the command, without the marks of Markdown."""
    tables = {
        name: {
            "consequence": table.consequence,
            "codes": {code: [each.plain_meaning, each.plain_advice] for code, each in table.explanations.items()},
        }
        for name, table in TABLES.items()
    }
    document = {"deficient": sorted(DEFICIENT), "tables": tables}
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or with `--check` compare them with the explanations. Return the exit code."""
    codes = [
        write_or_check(ROOT / "docs" / document, partial(build_tables, names), "tools.code_tables", arguments)
        for document, names in DOCUMENTS.items()
    ]
    return max(*codes, write_or_check(OF_COMMAND, build_codes, "tools.code_tables", arguments))


if __name__ == "__main__":
    sys.exit(main())
