"""What commands print of the API's answers: tables for people, JSON and CSV for programs.

Guaranteed: texts of others cannot control the terminal, nor be evaluated by a spreadsheet; a CSV file has its name only
when it is whole.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable

# Characters that make a spreadsheet evaluate a cell (OWASP, "CSV injection"), also in full width.
_FORMULA_STARTS = (*"=+-@", "\t", "\r", "\n", "\0", *"＝＋－＠")
_LONGEST_CELL = 200
_UPPER = re.compile("([A-Z])")
_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d+(?=Z$)")


def _describe_error(error: str) -> Mapping[str, Any]:
    return {"error": error}


def report_errors(
    options: argparse.Namespace,
    work: Callable[[], int],
    describe: Callable[[str], Mapping[str, Any]] = _describe_error,
) -> int:
    """Return the exit code of the work; with --json, print what `describe` makes of an error, {"error"} by default.

    Raises CommandError without --json.
    """
    try:
        return work()
    except CommandError as exc:
        if not getattr(options, "json", False):
            raise
        print_json(describe(str(exc)))
        return exc.exit_code


def format_json(value: object, indent: int | None = 2) -> str:
    """Return a value as JSON, in which characters that cannot be displayed are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.replace("\n", "").isprintable():
        return text
    # Only texts have such characters, apart from the line feeds between the parts.
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    print(format_json(document))


def print_list(member: str, rows: Iterable[Mapping[str, Any]], output: TextIO) -> None:
    """Print one JSON object whose only member is the list; rows are written as they come, after the first has come."""
    begun = iter(rows)
    first = next(begun, None)
    output.write(f'{{"{member}": [')
    if first is not None:
        output.write("\n  " + format_json(first, None))
    for row in begun:
        output.write(",\n  " + format_json(row, None))
    output.write("\n]}\n")


def to_snake(value: Any, kept: frozenset[str] = frozenset({"properties"})) -> Any:
    """Return an object of the API with its names in snake_case; those within the members `kept` are data."""
    if isinstance(value, list):
        return [to_snake(each, kept) for each in value]
    if not isinstance(value, dict):
        return value
    return {name_snake(name): each if name in kept else to_snake(each, kept) for name, each in value.items()}


def name_snake(name: str) -> str:
    """Return a name of the API in snake_case."""
    return _UPPER.sub(r"_\1", name).lower()


def format_time(text: str | None) -> str:
    """Return a time of the API to the second, in UTC as the API has it; empty for none."""
    return _FRACTION.sub("", text or "")


def format_count(count: int, name: str, plural: str | None = None) -> str:
    """Return a number and what is counted: `1 document`, `1,200 documents`."""
    return f"{count:,} {name if count == 1 else plural or name + 's'}"


def clean(value: Any, characters: int = _LONGEST_CELL) -> str:
    """Return a value for a line of the terminal."""
    return "" if value is None else shorten_printable(str(value), characters)


def format_facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    """Return names and values, one on each line."""
    listed = list(facts)
    width = max((len(name) for name, _ in listed), default=0)
    return [f"  {name.ljust(width)}  {value}" for name, value in listed]


@contextlib.contextmanager
def open_draft(path: Path) -> Iterator[Path]:
    """Give a file beside `path` to write to, which takes its name after the block, or is deleted if the block fails.

    Only the user can read it. Raises CommandError if the file cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name[:100]}.")
        os.close(handle)
        draft = Path(name)
        try:
            yield draft
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as exc:
        raise CommandError(f"{path} cannot be written: {exc.strerror}. Choose another file.") from exc


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write rows in UTF-8 with the byte order mark that Excel needs, in place of an earlier file; return their number.

    A cell that a spreadsheet would evaluate begins with an apostrophe. Raises CommandError if it cannot be written.
    """
    count = 0
    with open_draft(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            writer.writerow(["" if value is None else neutralize_formula(str(value)) for value in row])
            count += 1
    return count


def neutralize_formula(cell: str) -> str:
    """Return the cell in a form that a spreadsheet displays and does not evaluate."""
    return "'" + cell if cell.startswith(_FORMULA_STARTS) else cell
