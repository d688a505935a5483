"""Compare what came with what the sender's letter says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TextIO

from exhibit_ingest.import_request import Expected
from exhibit_ingest.importing.expected_arguments import COUNTS
from exhibit_ingest.importing.result import ImportResult


class Difference(NamedTuple):
    """Something of which another number came than was expected; `found` is None where nothing is known of it."""

    name: str
    expected: int | str
    found: int | str | None


def list_differences(expected: Expected | None, results: Sequence[ImportResult]) -> list[Difference]:
    """Return what differs between a letter and the imports, or checks, of all load files together."""
    return list(_compare(expected, results)) if expected else []


def count_found(results: Sequence[ImportResult]) -> dict[str, int | None]:
    """Return the numbers of which letters speak; None for those of which nothing is known."""
    return {name: _sum([_count(name, each) for each in results]) for name in COUNTS}


def describe_found(results: Sequence[ImportResult]) -> str | None:
    """Return a line to hold against the sender's letter; None if nothing is known."""
    known = {name: count for name, count in count_found(results).items() if count is not None}
    counts = [f"{count:,} {name if count != 1 else name.removesuffix('s')}" for name, count in known.items()]
    ranges = [f"Bates numbers {each.bates.first} to {each.bates.last}" for each in results if each.bates]
    return ", ".join([*counts, *ranges]) or None


def _compare(expected: Expected, results: Sequence[ImportResult]) -> Iterator[Difference]:
    found = count_found(results)
    for name in COUNTS:
        number = getattr(expected, name)
        if number is not None and number != found[name]:
            yield Difference(name, number, found[name])
    ranges = [each.bates for each in results if each.bates]
    if expected.bates and (len(ranges) != 1 or tuple(ranges[0]) != expected.bates):
        yield Difference("bates", "-".join(expected.bates), ", ".join(map("-".join, ranges)) or None)


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [each for each in counts if each is not None]
    return sum(known) if known else None


def _count(name: str, result: ImportResult) -> int | None:
    """Return how many of these an import has; None if its load file is not about them, or it did not start."""
    if result.state is None:
        return None
    if result.pages is not None:
        return result.pages["lines_seen"] - result.pages["rejected"] if name == "pages" else None
    if name == "documents":
        return result.state.rows_imported
    files = result.details.get("files")
    if name == "pages":
        return None
    linked: int = files[f"{name}Linked"] if files else result.stored_paths.get(name, 0)
    return linked


def print_differences(differences: Sequence[Difference], output: TextIO) -> None:
    """Print what differs as a table; nothing if there is nothing."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from exhibit_ingest.importing.summary import build_console

    if not differences:
        return
    table = Table(box=box.SIMPLE, title="Not as expected", title_justify="left")
    for name in ("what", "expected", "found"):
        table.add_column(name, overflow="fold")
    for each in differences:
        table.add_row(*map(Text, map(_format, each)))
    build_console(output).print(table)


def _format(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str("nothing" if value is None else value)
