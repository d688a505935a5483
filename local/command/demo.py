"""`make demo`: generate a load file and a volume with a few faults, import both and show the result of each fault.

Exit code 0 if every fault, and a family stated by Bates numbers, had the expected result, 1 if not.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.table import Table

from exhibit_ingest.cli.signals import Interrupted, interrupt_on_signals
from exhibit_ingest.errors import CommandError
from exhibit_ingest.exit_codes import DONE, FAILED
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.importing.file_imports import import_into
from exhibit_ingest.importing.reports import Reports
from exhibit_ingest.importing.result import ImportResult
from exhibit_ingest.importing.state import ImportState
from exhibit_ingest.importing.summary import print_table
from exhibit_ingest.importing.volume_imports import VolumeOutcome, import_volume_into
from exhibit_ingest.program import format_command
from exhibit_ingest.session.pages import build_query
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.volumes.output import print_figures
from exhibit_ingest.volumes.survey import survey_volume
from local.command.workspace import Workspace
from local.errors import LocalError
from samples.demo import VOLUME, PlantedRow, describe, write_demo
from samples.volume import GeneratedVolume, generate_volume

WIDTH_WITHOUT_TERMINAL = 140
# By line number: the code and the message of each entry in the report files.
Findings = Mapping[int, Sequence[tuple[str, str]]]
# By control number; None is a document without a parent.
Parents = Mapping[str, str | None]


def main() -> int:
    """Import the demo's files into a new case, print the result of each fault and return the exit code."""
    workspace = Workspace(database_url=os.environ.get("DATABASE_URL") or None)
    console = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL)
    case = f"demo {datetime.now():%Y-%m-%d %H:%M:%S}"
    try:
        workspace.check_disk_space()
        file = write_demo(workspace.state_dir / "demo")
        volume = generate_volume(VOLUME)
        # An earlier version may have written other files.
        shutil.rmtree(file.parent / VOLUME.name, ignore_errors=True)
        folder = volume.write(file.parent)
        console.print(f"Generated a Concordance load file: {file} ({file.stat().st_size:,} bytes),", soft_wrap=True)
        console.print(f"and a production with natives, texts and images: {folder}.\n", soft_wrap=True)
        with interrupt_on_signals():
            result, outcome, parents = _import(workspace, file, folder, case)
    except Interrupted as interruption:
        print("demo: interrupted;", *getattr(interruption, "__notes__", []), file=sys.stderr)
        return 128 + interruption.signal
    except (CommandError, LocalError) as exc:
        print(f"demo: error: {exc}", file=sys.stderr)
        return FAILED
    print_table([result], case, (), sys.stdout)
    if result.state is None or result.failed:
        return FAILED
    as_expected = print_planted_rows(console, _read_findings(result.reports), parents)
    as_expected = _print_volume(console, volume, outcome) and as_expected
    # The pages of the production's images belong to documents that its load file has created.
    loaded = [result.state, *(each.state for each in outcome.results if each.state and each.pages is None)]
    _print_next_steps(console, loaded)
    return DONE if as_expected else FAILED


def _import(workspace: Workspace, file: Path, folder: Path, case: str) -> tuple[ImportResult, VolumeOutcome, Parents]:
    request = ImportRequest([file], case, {}, create_case=True)
    results, outcome = list[ImportResult](), VolumeOutcome()
    options = argparse.Namespace(stack=None, tenant=None, user=None, json=False)
    with Context(own=workspace).open(options, may_be_new=True) as session:
        import_into(session, request, results)
        import_volume_into(session, replace(request, files=[folder]), {}, survey_volume(folder, {}), outcome)
        named = [row.control_number for row in describe() if row.parent and row.control_number]
        parents = {number: _read_parent(session, case, number) for number in named}
    return results[0], outcome, parents


def _read_parent(session: Session, case: str, control_number: str) -> str | None:
    """Return the parent that the API has for a document; None also if it does not have the document."""
    query = build_query({"case": case, "controlNumber": control_number})
    found = session.api.request("GET", f"/exhibits{query}")["items"]
    return found[0]["parentControlNumber"] if found else None


def _read_findings(reports: Reports) -> Findings:
    """Return the entries of report.csv and warnings.csv; a message begins with its column, where it has one."""
    findings: dict[int, list[tuple[str, str]]] = {}
    for path in (reports.report, reports.warnings):
        for row in _read_rows(path):
            column = f"{row['column']}: " if row["column"] else ""
            findings.setdefault(int(row["line"]), []).append((row["code"], column + row["message"]))
    return findings


def _read_rows(path: Path | None) -> Iterator[dict[str, str]]:
    if path is not None:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from csv.DictReader(lines)


def print_planted_rows(console: Console, findings: Findings, parents: Parents) -> bool:
    """Print a table of the planted rows; return whether each had the expected result."""
    table = Table(title="\nFaulty rows in the file and their results", title_justify="left")
    for column in ("line", "fault", "expected", "in the report files"):
        table.add_column(column, overflow="fold")
    as_expected = True
    for row in describe():
        found, parent = findings.get(row.line, []), parents.get(row.control_number or "")
        without_entry = f"no entry; its parent is {parent}" if row.parent else "no entry"
        as_expected = as_expected and _is_expected(row, {code for code, _ in found}, parent)
        table.add_row(str(row.line), row.fault, row.expected, _join(found) or without_entry)
    console.print(table)
    return as_expected


def _join(entries: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{code}: {message}" for code, message in entries)


def _is_expected(row: PlantedRow, codes: set[str], parent: str | None) -> bool:
    if row.parent:
        return not codes and parent == row.parent
    return bool(codes) and all(code in row.expected for code in codes)


def _print_volume(console: Console, volume: GeneratedVolume, outcome: VolumeOutcome) -> bool:
    """Print what was found of the volume, and its faults; return whether each of them is reported."""
    reported = [*_list_reported(outcome)]
    if outcome.error:
        console.print(f"\n{volume.spec.name}: error: {outcome.error}", soft_wrap=True, markup=False)
    else:
        documents, pages = outcome.results[0].state, outcome.figures["pages"]
        counts = f"{documents.imported if documents else 0:,} documents, {pages['imported']:,} pages"
        console.print(f"\nThe production {volume.spec.name} is in the same case: {counts}")
        print_figures(outcome.figures, console)
    table = Table(title="\nFaults of the production and their results", title_justify="left")
    for column in ("document or file", "fault", "expected", "in the report files"):
        table.add_column(column, overflow="fold")
    for fault in volume.faults:
        entries = [each for each in reported if each[0] == fault.code]
        table.add_row(fault.place, fault.text, fault.code, _join(entries) or "no entry")
    console.print(table)
    return Counter(code for code, _ in reported) == Counter(fault.code for fault in volume.faults)


def _list_reported(outcome: VolumeOutcome) -> Iterator[tuple[str, str]]:
    """Yield code and message of the entries of both load files, then the files that nothing names."""
    for result in outcome.results:
        yield from chain.from_iterable(_read_findings(result.reports).values())
        yield from ((row["code"], row["path"]) for row in _read_rows(result.reports.unreferenced))


def _print_next_steps(console: Console, loaded: Sequence[ImportState]) -> None:
    documents = sum(each.imported for each in loaded)
    custodians, tags = sum(each.custodians_created for each in loaded), sum(each.tags_created for each in loaded)
    console.print(
        f"\n{documents:,} documents of {custodians} custodians with {tags} tags are in MySQL.\n"
        f"Query the tables:     {format_command('database-url')} prints a command for a MySQL client\n"
        f"Import your own file: {format_command('import', 'FILE_OR_FOLDER_OR_ZIP', '--case', 'NAME')}\n"
        f"Delete everything:    {format_command('reset')}",
        soft_wrap=True,
    )


if __name__ == "__main__":
    sys.exit(main())
