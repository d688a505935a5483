"""The result of `import`: a table for people, or one JSON object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from exhibit_ingest.explained_codes import REJECTION, WARNING, explain_codes, list_deficient_codes
from exhibit_ingest.importing.column_lines import list_columns
from exhibit_ingest.importing.reports import Reports
from exhibit_ingest.importing.result import ImportResult
from exhibit_ingest.option_advice import advise_option
from exhibit_ingest.printable import make_printable
from exhibit_ingest.program import format_command

_COUNTS = (
    "rows_seen",
    "imported",
    "unchanged",
    "updated",
    "rejected",
    "warnings",
    "custodians_created",
    "tags_created",
)
EXISTS_WITH_OTHER_VALUES, HAS_PAGES = "EXISTS_WITH_OTHER_VALUES", "HAS_PAGES"
PAGES_OF_REJECTED_ROW, CHUNK_FAILED = "PAGES_OF_REJECTED_ROW", "CHUNK_FAILED"
_TABLE_COUNTS = ("rows_seen", "imported", "updated", "unchanged", "rejected", "warnings")
_WIDTH_WITHOUT_TERMINAL = 140


def build_entry(result: ImportResult) -> dict[str, Any]:
    """Return the object that --json prints for a file."""
    state = result.state
    return {
        "file": str(result.file),
        "import_id": state.id if state else None,
        "status": result.status,
        "error": result.error,
        "mode": result.mode,
        **{name: getattr(state, name) if state else 0 for name in _COUNTS},
        **build_reading(result),
        "profile": state.profile if state else None,
        "saved_profile": result.saved_profile._asdict() if result.saved_profile else None,
        "rejected_by_code": dict(result.codes.rejected),
        "pages": dict(result.pages) if result.pages else None,
        "bates": result.bates and result.bates._asdict(),
        "stored_paths": result.stored_paths or None,
        "warnings_by_code": dict(result.codes.warnings),
        "columns": list(result.columns),
        "seconds": round(result.seconds, 3),
        "reports": {
            name: str(path) if path else None
            for name, path in (
                ("rejected_rows", result.reports.rejected_rows),
                ("report", result.reports.report),
                ("warnings", result.reports.warnings),
                ("options", result.reports.options),
                ("columns", result.reports.columns),
                ("unreferenced", result.reports.unreferenced),
                ("deficiencies", result.reports.deficiencies),
                ("deficiencies_text", result.reports.deficiencies_text),
            )
        },
    }


def build_reading(result: ImportResult) -> dict[str, str | None]:
    """Return the encoding, delimiter and qualifier of the file, as far as they are known."""
    reading = result.details.get("reading") or {}
    return {name: reading.get(name) for name in ("encoding", "delimiter", "qualifier")}


def print_table(results: Sequence[ImportResult], case: str, place: Sequence[str], output: TextIO) -> None:
    """Print the table, then errors, counts by code, the reports' paths and the next command, on unwrapped lines.

    `place` are the options that name the stack in commands.
    """
    console = build_console(output)
    console.print(_build_table(results))
    for result in results:
        for line in _list_details(result, case, place, results):
            console.print(make_printable(f"{result.file.name}: {line}"), soft_wrap=True, markup=False)


def build_console(output: TextIO) -> Console:
    """Return a console that is wide enough for tables where the output is not a terminal."""
    console = Console(file=output, highlight=False, emoji=False)
    if console.is_terminal:
        return console
    return Console(file=output, highlight=False, emoji=False, width=_WIDTH_WITHOUT_TERMINAL)


def _list_details(
    result: ImportResult, case: str, place: Sequence[str], all_results: Sequence[ImportResult]
) -> Iterator[str]:
    """Yield the error, the columns, the counts by code and the report files, where there are any."""
    reports = result.reports
    if result.error:
        yield f"error: {result.error}"
    yield from list_advice(result)
    yield from list_columns(result.columns, reports.columns)
    if result.pages:
        yield _describe_pages(result.pages)
    if result.bates:
        yield f"Bates numbers: {result.bates.first} to {result.bates.last}"
    yield from list_stored_paths(result)
    if result.saved_profile:
        yield f"saved as profile {result.saved_profile.name!r}, version {result.saved_profile.version}"
    if result.state and _has_rejected_rows(result):
        if result.codes.rejected:
            yield f"rejected: {result.state.rejected:,}, by code:"
            yield from explain_codes(result.codes.rejected, REJECTION, of_images=bool(result.pages))
        yield f"rejected rows: {reports.rejected_rows}"
        yield f"reasons: {reports.report}"
        yield from _advise_rejected(result, case, place, all_results)
    if result.state and result.state.warnings:
        yield f"warnings: {result.state.warnings:,}{', by code:' if result.codes.warnings else ''}"
        yield from explain_codes(result.codes.warnings, WARNING, of_images=bool(result.pages))
        if reports.warnings:
            yield f"details: {reports.warnings}"
    yield from list_deficiencies(result, {*result.codes.rejected, *result.codes.warnings})
    yield from list_unreferenced(result)


def _has_rejected_rows(result: ImportResult) -> bool:
    """Return whether the import has an error file with rows; a file without rejections has one with its header only."""
    return bool(result.state and result.state.rejected and result.reports.rejected_rows)


def _advise_rejected(
    result: ImportResult, case: str, place: Sequence[str], all_results: Sequence[ImportResult]
) -> Iterator[str]:
    """Yield what to do with rejected rows; those of a volume come with the pages that were rejected without them."""
    others = [each for each in all_results if each.source and each is not result and _has_rejected_rows(each)]
    pages = [each.reports.rejected_rows for each in others if result.source and not result.pages and each.pages]
    reload = build_reload_command(result.reports, case, place, [path for path in pages if path])
    if result.pages and others:
        if result.codes.rejected.keys() == {PAGES_OF_REJECTED_ROW}:
            yield "These lines need no correction: the command above imports them after the rows."
        else:
            yield "Correct these lines too, then run the command above: it imports both files."
        return
    # A correction is one file, and the rows of a failed chunk are no lines of it: a retry imports them.
    corrects = None if pages or CHUNK_FAILED in result.codes.rejected else result.corrects
    correct = build_reload_command(result.reports, case, place, corrects=corrects) if corrects else reload
    yield f"Fix the rejected rows, then: {correct}"
    if EXISTS_WITH_OTHER_VALUES in result.codes.rejected and result.mode in (None, "append"):
        yield (
            f"{EXISTS_WITH_OTHER_VALUES}: the case has these documents with other values. If those of the"
            f" file are right, change the documents with an overlay: {reload} --mode overlay"
        )
    if HAS_PAGES in result.codes.rejected:
        yield (
            f"{HAS_PAGES}: these documents have other pages. If those of the file are right, replace them:"
            f" {reload} --mode overlay"
        )


def list_advice(result: ImportResult) -> Iterator[str]:
    """Yield how the options are set that the reason names why a file cannot be imported, if it names any."""
    message = result.state.failure_message if result.state else None
    advice = advise_option(message) if message else None
    if advice:
        yield advice


def list_stored_paths(result: ImportResult) -> Iterator[str]:
    """Yield that rows name files of no volume, if some do."""
    if result.stored_paths:
        counted = result.stored_paths.items()
        named = " and ".join(_count(count, kind.removesuffix("s")) for kind, count in counted)
        yield (
            f"rows name {named}: only the paths are stored. To link the files, import the folder or zip of this"
            " production with --mode append_overlay"
        )


def list_deficiencies(result: ImportResult, codes: Iterable[str]) -> Iterator[str]:
    """Yield where the list for the producing party is, if one of the codes is something to send or correct."""
    deficient = list_deficient_codes()
    if result.reports.deficiencies_text and any(code in deficient for code in codes):
        yield f"what the producing party has to send or correct: {result.reports.deficiencies_text}"


def list_unreferenced(result: ImportResult) -> Iterator[str]:
    """Yield the path of the list of the volume's files that nothing or only rejected rows name, if there are any."""
    if result.reports.unreferenced:
        yield f"files that no imported row or page names: {result.reports.unreferenced}"


def _describe_pages(pages: Mapping[str, int]) -> str:
    without = "its" if pages["missing_images"] == 1 else "their"
    missing = f"; {_count(pages['missing_images'], 'page')} without {without} image" if pages["missing_images"] else ""
    rejected = f"; {_count(pages['rejected'], 'line')} rejected" if pages["rejected"] else ""
    had = f"{_count(pages['documents'], 'document')} of {_count(pages['lines_seen'], 'line')}"
    return f"images: {had}, {_count(pages['imported'], 'new page')}{missing}{rejected}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def build_reload_command(
    reports: Reports, case: str, place: Sequence[str], more: Sequence[Path] = (), *, corrects: int | None = None
) -> str:
    """Return the command that imports the corrected rows, and more error files after them, quoted for a shell.

    With `corrects`, the rows are read as that import was, and count as corrected there; otherwise the mapping says how.
    """
    # A value after a space must not begin with a hyphen: it would be taken for an option.
    reading = ("--corrects", str(corrects)) if corrects else ("--mapping", str(reports.options))
    named = [("--case", case), *zip(place[::2], place[1::2], strict=True), reading]
    values = [[f"{name}={value}"] if value.startswith("-") else [name, value] for name, value in named]
    return format_command("import", *map(str, (reports.rejected_rows, *more)), *chain.from_iterable(values))


def _build_table(results: Sequence[ImportResult]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("file", overflow="fold")
    table.add_column("status")
    # Only an overlay updates.
    is_overlay = any(result.state and result.state.updated for result in results)
    names = [name for name in _TABLE_COUNTS if is_overlay or name != "updated"]
    for name in names:
        table.add_column(name.removesuffix("_seen"), justify="right", no_wrap=True)
    for result in results:
        counts = [getattr(result.state, name) if result.state else 0 for name in names]
        status = result.status.replace("_", " ")
        cells = [result.file.name, status, *(f"{count:,}" for count in counts)]
        table.add_row(*map(Text, cells))
    return table
