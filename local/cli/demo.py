"""`make demo`: a generated production with a few rows that have something wrong, imported before one's eyes.

Exit code 0 if the import did with every planted row what must happen to it, 1 if not.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from local import reports, uploads
from local.commands import DONE, FAILED, Place
from local.errors import LocalError
from local.import_states import ImportState, ImportStates
from local.progress import ProgressDisplay
from local.reports import Reports
from local.summary import Outcome, print_table
from samples.demo import Special, describe, write_demo

WIDTH_WITHOUT_TERMINAL = 140
Happened = dict[int, list[tuple[str, str]]]


def main() -> int:
    """Import the demo's file into a case of its own and tell what became of its special rows."""
    place = Place()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL)
    file = write_demo(place.state_dir / "demo")
    console.print(f"A Concordance load file was generated: {file} ({file.stat().st_size:,} bytes).\n")
    try:
        outcome = _import(place, file)
    except LocalError as exc:
        print(f"demo: {exc}", file=sys.stderr)
        return FAILED
    print_table([outcome], sys.stdout)
    if outcome.state is None or outcome.failed:
        return FAILED
    told = _tell(console, _happened(outcome.reports))
    _next_steps(console, outcome.state)
    return DONE if told else FAILED


def _import(place: Place, file: Path) -> Outcome:
    case = f"demo {datetime.now():%Y-%m-%d %H:%M:%S}"
    display = ProgressDisplay(Console(stderr=True, highlight=False))
    with display, place.stack() as stack, ImportStates(stack.database_url) as states:
        began = time.monotonic()
        look = uploads.finder(states, uploads.put(stack, file, "local", case, {}))
        line = display.file(file.name)

        def show(state: ImportState | None) -> None:
            line.show(state)
            display.failures(stack.failures())

        state = uploads.wait(stack, look, show)
        seconds = time.monotonic() - began
        return Outcome(
            file, state, state.failure_message, seconds, reports.download(stack.s3, stack.bucket, state, _folder(place))
        )


def _folder(place: Place) -> Path:
    return place.state_dir / "reports"


def _happened(written: Reports) -> Happened:
    """What the report files say of each line, as (code, sentence)."""
    happened: Happened = {}
    for path in (written.report, written.warnings):
        for row in _rows(path):
            where = f"{row['column']}: " if row["column"] else ""
            happened.setdefault(int(row["line"]), []).append((row["code"], where + row["message"]))
    return happened


def _rows(path: Path | None) -> Iterator[dict[str, str]]:
    if path is not None:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from csv.DictReader(lines)


def _tell(console: Console, happened: Happened) -> bool:
    """Print the story; False if something happened that must not have."""
    table = Table(title="\nWhat was planted in the file, and what became of it", title_justify="left")
    for column in ("line", "planted", "expected", "what the report files say"):
        table.add_column(column, overflow="fold")
    right = True
    for special in describe():
        said = happened.get(special.line, [])
        right = right and _as_expected(special, {code for code, _ in said})
        sentences = "\n".join(f"{code}: {sentence}" for code, sentence in said) or "nothing: imported as it is"
        table.add_row(str(special.line), special.planted.replace("_", " "), special.expected, sentences)
    console.print(table)
    return right


def _as_expected(special: Special, codes: set[str]) -> bool:
    return bool(codes) and all(code in special.expected for code in codes)


def _next_steps(console: Console, state: ImportState) -> None:
    console.print(
        f"\n{state.imported:,} documents of {state.custodians_created} custodians with {state.tags_created} tags are "
        "in MySQL; the rejected rows are in the rejected-rows file, to be mended and loaded again.\n"
        "Look at the tables:   a MySQL client, at what .venv/bin/exhibit-ingest database-url prints\n"
        "Import your own file: .venv/bin/exhibit-ingest import FILE --case NAME\n"
        "Forget all of it:     .venv/bin/exhibit-ingest reset",
        soft_wrap=True,
    )


if __name__ == "__main__":
    sys.exit(main())
