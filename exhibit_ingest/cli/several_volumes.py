"""`exhibit-ingest import` and `check` of several volumes: one after another, each an import of its own, one summary.

Guaranteed: all volumes are looked at before the first one is sent; a volume that fails does not keep those after it
from being imported, and the exit code is that of the worst.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from exhibit_ingest.cli.signals import Interrupted
from exhibit_ingest.cli.summary import build_console
from exhibit_ingest.cli.volume_import import VolumeOutcome, build_document, choose_code, import_volume, run_volume
from exhibit_ingest.cli.volume_import import report_volume as report
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.volumes.several import Volumes, list_volumes
from exhibit_ingest.volumes.survey import survey_volume
from local.errors import LocalError, UsageError

_MOST_LISTED = 20
_RESULTS = {DONE: "all rows", REJECTED: "rows rejected", FAILED: "failed"}
_COUNTS = ("rows_seen", "imported", "updated", "unchanged", "rejected")


def import_volumes(workspace: Workspace, request: ImportRequest, settings: dict[str, str]) -> int:
    """Import or check the volumes of a request in their order, print the results, and return the exit code.

    Raises what `import_volume` raises. An interruption ends the command; what was imported before stays.
    """
    try:
        found = list_volumes(request.files, settings)
    except (LocalError, OSError):
        # With one folder, it is told as for every volume.
        if len(request.files) > 1:
            raise
        found = Volumes([*request.files], [])
    if found.paths == [*request.files] and len(found.paths) == 1:
        return import_volume(workspace, request, settings)
    if settings.keys() & {"loadFile", "imageLoadFile"}:
        raise UsageError(
            "--load-file and --image-load-file name a file of one volume; import each with its own command"
        )
    return _SeveralVolumes(workspace, request, settings, found).run()


class _SeveralVolumes:
    def __init__(self, workspace: Workspace, request: ImportRequest, settings: dict[str, str], found: Volumes) -> None:
        self._workspace, self._request, self._settings, self._found = workspace, request, settings, found
        self._ended: list[tuple[ImportRequest, VolumeOutcome]] = []

    def run(self) -> int:
        error = self._survey()
        if error is None:
            self._print_list()
            try:
                self._import_all()
            finally:
                # Also after an interruption: these volumes are in.
                self._print_json(None)
        else:
            self._print_json(error)
            print(f"exhibit-ingest: error: {error}", file=sys.stderr)
        self._print_summary()
        return FAILED if error else self._choose_code()

    def _survey(self) -> str | None:
        """Return what is wrong with the first volume that cannot be sent; nothing is kept of the others."""
        for path in self._found.paths:
            try:
                survey_volume(path, self._request.tenant, self._request.case, self._settings)
            except (LocalError, OSError) as exc:
                return f"{path.name}: {exc}. Nothing was imported; the folder has {len(self._found.paths)} volumes"
        return None

    def _import_all(self) -> None:
        for number, path in enumerate(self._found.paths, start=1):
            one = replace(self._request, files=[path])
            self._print(f"Volume {number} of {len(self._found.paths)}: {path.name}")
            try:
                outcome = run_volume(self._workspace, one, self._settings)
            except Interrupted as interruption:
                left = [each.name for each in self._found.paths[number:]]
                interruption.add_note(f"Not begun: {', '.join(left) or 'no other volume'}.")
                raise
            self._ended.append((one, outcome))
            if not self._request.json:
                report(outcome, one, self._settings)

    def _choose_code(self) -> int:
        codes = [choose_code(outcome, request) for request, outcome in self._ended]
        return next(code for code in (FAILED, REJECTED, DONE) if code in codes)

    def _print(self, line: str) -> None:
        if not self._request.json:
            print(line)

    def _print_list(self) -> None:
        self._print(f"{len(self._found.paths)} volumes, in this order: {_list_names(self._found.paths)}")
        if self._found.others:
            self._print(f"Not sent, because they belong to no volume: {_list_names(self._found.others)}")

    def _print_json(self, error: str | None) -> None:
        if self._request.json:
            volumes = [build_document(outcome, request) for request, outcome in self._ended]
            others = [str(path) for path in self._found.others]
            print(json.dumps({"volumes": volumes, "not_sent": others, "error": error}, ensure_ascii=False, indent=2))

    def _print_summary(self) -> None:
        if self._request.json or not self._ended:
            return
        table = Table(box=box.SIMPLE)
        table.add_column(Text("volume"), overflow="fold")
        for name in ("load files", *_COUNTS):
            table.add_column(name.replace("_", " "), justify="right")
        table.add_column("result")
        for row in self._list_rows():
            table.add_row(*row)
        build_console(sys.stdout).print(table)

    def _list_rows(self) -> Iterator[tuple[str, ...]]:
        total = [0] * (len(_COUNTS) + 1)
        for request, outcome in self._ended:
            counts = _count(outcome)
            total = [one + other for one, other in zip(total, counts, strict=True)]
            result = _RESULTS[choose_code(outcome, request)]
            yield (request.files[0].name, *(f"{count:,}" for count in counts), result)
        yield ("total", *(f"{count:,}" for count in total), "")


def _count(outcome: VolumeOutcome) -> list[int]:
    states: list[Any] = [result.state for result in outcome.results if result.state]
    return [len(outcome.results), *(sum(getattr(state, name) for state in states) for name in _COUNTS)]


def _list_names(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - _MOST_LISTED} more" if len(paths) > _MOST_LISTED else ""
    return ", ".join(path.name for path in paths[:_MOST_LISTED]) + more
