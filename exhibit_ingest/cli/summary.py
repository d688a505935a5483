"""The result of `import`: a table for people, or one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.checks.deficiencies import DEFICIENT
from core.codes import Rejection
from core.explanations.tables import Consequence
from core.imports.columns.report import ColumnReading
from core.load_mode import Mode
from exhibit_ingest.cli.column_summary import list_columns
from exhibit_ingest.cli.import_status import CodeCounts, ImportProgress
from exhibit_ingest.cli.report_download import Reports
from exhibit_ingest.explained_codes import explain_codes
from exhibit_ingest.option_advice import advise_option
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
_TABLE_COUNTS = ("rows_seen", "imported", "updated", "unchanged", "rejected", "warnings")
_WIDTH_WITHOUT_TERMINAL = 140


class SavedProfile(NamedTuple):
    """The mapping profile that an import was saved as."""

    name: str
    version: int


@dataclass(frozen=True)
class ImportResult:
    """The result of one file, in seconds from upload to completion; `state` is None where its import did not start.

    `source` is the folder or zip that a file of a volume is in; `stored_paths` are the paths, by kind of file, that
    rows of a load file name which is not one of a volume; `corrects` is the import that `--corrects` names for the
    error file, None if no file can correct its rows.
    """

    file: Path
    state: ImportProgress | None
    error: str | None
    seconds: float
    reports: Reports = field(default_factory=Reports)
    codes: CodeCounts = field(default_factory=CodeCounts)
    columns: Sequence[ColumnReading] = ()
    saved_profile: SavedProfile | None = None
    mode: Mode | None = None
    is_profile_refused: bool = False
    pages: Mapping[str, int] | None = None
    source: Path | None = None
    stored_paths: Mapping[str, int] = field(default_factory=dict)
    corrects: int | None = None

    @property
    def status(self) -> str:
        """Return completed, completed_with_rejections or failed."""
        if self.error is not None or self.state is None or self.state.failed:
            return "failed"
        return self.state.status

    @property
    def failed(self) -> bool:
        """Whether the file was not imported."""
        return self.status == "failed"


def format_json(results: Sequence[ImportResult]) -> str:
    """Return the JSON object that --json prints."""
    return json.dumps({"imports": [_build_entry(result) for result in results]}, ensure_ascii=False, indent=2)


def _build_entry(result: ImportResult) -> dict[str, Any]:
    state = result.state
    return {
        "file": str(result.file),
        "import_id": state.id if state else None,
        "status": result.status,
        "error": result.error,
        "mode": result.mode,
        **{name: getattr(state, name) if state else 0 for name in _COUNTS},
        **{name: getattr(state, name) if state else None for name in ("encoding", "delimiter", "qualifier")},
        "profile": _build_profile(state),
        "saved_profile": result.saved_profile._asdict() if result.saved_profile else None,
        "rejected_by_code": dict(result.codes.rejected),
        "pages": dict(result.pages) if result.pages else None,
        "stored_paths": dict(result.stored_paths) or None,
        "warnings_by_code": dict(result.codes.warnings),
        "columns": [asdict(column) for column in result.columns],
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


def _build_profile(state: ImportProgress | None) -> dict[str, Any] | None:
    if state is None or state.profile_name is None:
        return None
    return {"name": state.profile_name, "version": state.profile_version}


def print_table(results: Sequence[ImportResult], case: str, tenant: str, output: TextIO) -> None:
    """Print the table, then errors, counts by code, the reports' paths and the next command, on unwrapped lines."""
    console = build_console(output)
    console.print(_build_table(results))
    for result in results:
        for line in _list_details(result, case, tenant, results):
            console.print(f"{result.file.name}: {line}", soft_wrap=True, markup=False)


def build_console(output: TextIO) -> Console:
    """Return a console that is wide enough for tables where the output is not a terminal."""
    console = Console(file=output, highlight=False, emoji=False)
    if console.is_terminal:
        return console
    return Console(file=output, highlight=False, emoji=False, width=_WIDTH_WITHOUT_TERMINAL)


def _list_details(result: ImportResult, case: str, tenant: str, all_results: Sequence[ImportResult]) -> Iterator[str]:
    """Yield the error, the columns, the counts by code and the report files, where there are any."""
    reports = result.reports
    if result.error:
        yield f"error: {result.error}"
    yield from list_advice(result)
    yield from list_columns(result.columns, reports.columns)
    if result.pages:
        yield _describe_pages(result.pages)
    yield from list_stored_paths(result)
    if result.saved_profile:
        yield f"saved as profile {result.saved_profile.name!r}, version {result.saved_profile.version}"
    if result.state and _has_rejected_rows(result):
        if result.codes.rejected:
            yield f"rejected: {result.state.rejected:,}, by code:"
            yield from explain_codes(result.codes.rejected, Consequence.REJECTION, of_images=bool(result.pages))
        yield f"rejected rows: {reports.rejected_rows}"
        yield f"reasons: {reports.report}"
        yield from _advise_rejected(result, case, tenant, all_results)
    if result.state and result.state.warnings:
        yield f"warnings: {result.state.warnings:,}{', by code:' if result.codes.warnings else ''}"
        yield from explain_codes(result.codes.warnings, Consequence.WARNING, of_images=bool(result.pages))
        if reports.warnings:
            yield f"details: {reports.warnings}"
    yield from list_deficiencies(result, {*result.codes.rejected, *result.codes.warnings})
    yield from list_unreferenced(result)


def _has_rejected_rows(result: ImportResult) -> bool:
    """Return whether the import has an error file with rows; a file without rejections has one with its header only."""
    return bool(result.state and result.state.rejected and result.reports.rejected_rows)


def _advise_rejected(
    result: ImportResult, case: str, tenant: str, all_results: Sequence[ImportResult]
) -> Iterator[str]:
    """Yield what to do with rejected rows; those of a volume come with the pages that were rejected without them."""
    others = [each for each in all_results if each.source and each is not result and _has_rejected_rows(each)]
    pages = [each.reports.rejected_rows for each in others if result.source and not result.pages and each.pages]
    reload = build_reload_command(result.reports, case, tenant, [path for path in pages if path])
    if result.pages and others:
        if result.codes.rejected.keys() == {Rejection.PAGES_OF_REJECTED_ROW}:
            yield "These lines need no correction: the command above imports them after the rows."
        else:
            yield "Correct these lines too, then run the command above: it imports both files."
        return
    # A correction is one file, and the rows of a failed chunk are no lines of it: a retry imports them.
    corrects = None if pages or Rejection.CHUNK_FAILED in result.codes.rejected else result.corrects
    correct = build_reload_command(result.reports, case, tenant, corrects=corrects) if corrects else reload
    yield f"Fix the rejected rows, then: {correct}"
    if Rejection.EXISTS_WITH_OTHER_VALUES in result.codes.rejected and result.mode in (None, Mode.APPEND):
        yield (
            f"{Rejection.EXISTS_WITH_OTHER_VALUES}: the case has these documents with other values. If those of the"
            f" file are right, change the documents with an overlay: {reload} --mode overlay"
        )
    if Rejection.HAS_PAGES in result.codes.rejected:
        yield (
            f"{Rejection.HAS_PAGES}: these documents have other pages. If those of the file are right, replace them:"
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
    if result.reports.deficiencies_text and any(code in DEFICIENT for code in codes):
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
    reports: Reports, case: str, tenant: str, more: Sequence[Path] = (), *, corrects: int | None = None
) -> str:
    """Return the command that imports the corrected rows, and more error files after them, quoted for a shell.

    With `corrects`, the rows are read as that import was, and count as corrected there; otherwise the mapping says how.
    """
    # A value after a space must not begin with a hyphen: it would be taken for an option.
    reading = ("--corrects", str(corrects)) if corrects else ("--mapping", str(reports.options))
    named = [("--case", case), ("--tenant", tenant), reading]
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
