"""Several volumes of one command: found in a folder, or given; one after another, with one summary.

Guaranteed: all volumes are looked at before the first one is sent; a volume that fails does not keep those after it
from being imported, and the exit code is that of the worst.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.session.output import format_json
from exhibit_ingest.volumes.survey import LOAD_FILE_SETTINGS, list_files, survey_volume
from exhibit_ingest.volumes.volume_folders import find_volume_folders

COUNTS = ("rows_seen", "imported", "updated", "unchanged", "rejected")
_RESULTS = {DONE: "all rows", REJECTED: "rows rejected", FAILED: "failed"}
_MOST_LISTED = 20


class Volumes(NamedTuple):
    """The folders and zips to send, in order, and the files and folders beside them that belong to none."""

    paths: list[Path]
    others: list[Path]


class VolumeResult(NamedTuple):
    """The result of one volume: its exit code, its JSON object, how many load files it had, and the sums of COUNTS."""

    code: int
    document: dict[str, Any]
    load_files: int
    counts: Sequence[int]


def list_volumes(given: Sequence[Path], settings: Mapping[str, str]) -> Volumes:
    """Return the volumes; a folder with several volumes stands for these.

    A folder is one volume if `settings`, members of the request to import a volume, choose a load file. Raises
    WrongUsageError where they do and several volumes are given, and CommandError for a folder that cannot be sent.
    """
    is_chosen = bool(settings.keys() & LOAD_FILE_SETTINGS)
    if is_chosen and len(given) > 1:
        raise WrongUsageError(
            "--load-file and --image-load-file name files of one volume; use a command of its own for each"
        )
    paths, others = list[Path](), list[Path]()
    for path in given:
        is_one = is_chosen or not path.is_dir()
        found = None if is_one else find_volume_folders(file.path for file in list_files(path))
        if found and found.volumes:
            paths += [path / name for name in found.volumes]
            others += [path / name for name in found.others]
        else:
            paths.append(path)
    return Volumes(paths, others)


@dataclass
class SeveralVolumes:
    """Volumes to import or check; `run_one` does so with one of them, and prints its result unless it is JSON.

    It hands the result to its second argument, also before it raises KeyboardInterrupt.
    """

    found: Volumes
    settings: Mapping[str, str]
    run_one: Callable[[Path, Callable[[VolumeResult], None]], None]
    as_json: bool
    # More members of the JSON object, at the end.
    summarize: Callable[[], dict[str, Any]] = dict
    _ended: list[tuple[str, VolumeResult]] = field(default_factory=list)

    def run(self, console: Console) -> int:
        """Import or check all, print the summary or one JSON object, and return the exit code.

        A CommandError of `run_one` ends the command as an interruption does, after what was imported before is printed;
        the note of an interruption has what was not begun.
        """
        error, code = self._survey(), FAILED
        if error is None:
            self._print_list()
            try:
                self._run_all()
            except KeyboardInterrupt:
                self._print_result(console, None)
                raise
            except CommandError as exc:
                error, code = str(exc), exc.exit_code
        self._print_result(console, error)
        if error is None:
            return next(code for code in (FAILED, REJECTED, DONE) if code in {each.code for _, each in self._ended})
        print(f"exhibit-ingest: error: {error}", file=sys.stderr)
        return code

    def _survey(self) -> str | None:
        """Return what is wrong with the first volume that cannot be sent."""
        for path in self.found.paths:
            try:
                survey_volume(path, self.settings)
            except (CommandError, OSError) as exc:
                return f"{path.name}: {exc} Nothing was imported of the {len(self.found.paths)} volumes."
        return None

    def _run_all(self) -> None:
        paths = self.found.paths
        for number, path in enumerate(paths, start=1):
            self._print(f"Volume {number} of {len(paths)}: {path.name}")
            try:
                self.run_one(path, partial(self._add, path.name))
            except KeyboardInterrupt as interruption:
                interruption.add_note(f"Not begun: {_list_names(paths[number:]) or 'no other volume'}.")
                raise

    def _add(self, name: str, result: VolumeResult) -> None:
        self._ended.append((name, result))

    def _print(self, line: str) -> None:
        if not self.as_json:
            print(line)

    def _print_list(self) -> None:
        self._print(f"{len(self.found.paths)} volumes, in this order: {_list_names(self.found.paths)}")
        if self.found.others:
            self._print(f"Not sent, because they belong to no volume: {_list_names(self.found.others)}")

    def _print_result(self, console: Console, error: str | None) -> None:
        if self.as_json:
            others = [str(path) for path in self.found.others]
            document = {"volumes": [each.document for _, each in self._ended], "not_sent": others}
            document |= {**self.summarize(), "error": error}
            print(format_json(document))
        elif self._ended:
            console.print(self._build_table())

    def _build_table(self) -> Table:
        table = Table(box=box.SIMPLE)
        table.add_column(Text("volume"), overflow="fold")
        for name in ("load files", *COUNTS):
            table.add_column(name.replace("_", " "), justify="right")
        table.add_column("result")
        for row in self._list_rows():
            table.add_row(*row)
        return table

    def _list_rows(self) -> Iterator[tuple[str | Text, ...]]:
        total = [0] * (len(COUNTS) + 1)
        for name, result in self._ended:
            counts = [result.load_files, *result.counts]
            total = [one + other for one, other in zip(total, counts, strict=True)]
            yield (Text(name), *(f"{count:,}" for count in counts), _RESULTS[result.code])
        yield ("total", *(f"{count:,}" for count in total), "")


def _list_names(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - _MOST_LISTED} more" if len(paths) > _MOST_LISTED else ""
    return ", ".join(path.name for path in paths[:_MOST_LISTED]) + more
