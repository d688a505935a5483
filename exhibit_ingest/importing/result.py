"""What is known of the import of a file at the end; tables and JSON are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from exhibit_ingest.errors import CommandError
from exhibit_ingest.importing.codes import CodeCounts, read_codes
from exhibit_ingest.importing.profiles import save_profile
from exhibit_ingest.importing.reports import Reports, download_reports
from exhibit_ingest.importing.state import ImportState, describe_failure, to_snake_names

if TYPE_CHECKING:
    from exhibit_ingest.import_request import ImportRequest
    from exhibit_ingest.importing.display import ProgressDisplay
    from exhibit_ingest.session.session import Session

_PAGES = ("lines_seen", "imported", "rejected", "documents", "missing_images")


class BatesRange(NamedTuple):
    """The first and the last Bates number of an import's documents."""

    first: str
    last: str


class SavedProfile(NamedTuple):
    """The mapping profile that an import was saved as."""

    name: str
    version: int


@dataclass(frozen=True)
class ImportResult:
    """The result of one file, in seconds from upload to completion; `state` is None where its import did not start.

    `source` is the folder or zip that a file of a volume is in.
    """

    file: Path
    state: ImportState | None
    error: str | None
    seconds: float
    reports: Reports = field(default_factory=Reports)
    codes: CodeCounts = field(default_factory=CodeCounts)
    saved_profile: SavedProfile | None = None
    is_profile_refused: bool = False
    source: Path | None = None
    bates: BatesRange | None = None

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

    @property
    def details(self) -> Mapping[str, Any]:
        """The response to GET /imports/{id}; empty where the import did not start or was not read whole."""
        return self.state.details if self.state else {}

    @property
    def columns(self) -> Sequence[Mapping[str, Any]]:
        """How the columns of the file were read: members of the API, with names in snake case."""
        return [to_snake_names(each) for each in self.details.get("columns") or ()]

    @property
    def mode(self) -> str | None:
        """What the rows do with existing documents; None where the file was not split."""
        mode: str | None = (self.details.get("loadMode") or {}).get("mode")
        return mode

    @property
    def pages(self) -> Mapping[str, int] | None:
        """What an image load file had of pages; None for another file."""
        pages = self.details.get("pages")
        return pages and {name: count or 0 for name, count in to_snake_names(pages).items() if name in _PAGES}

    @property
    def stored_paths(self) -> dict[str, int]:
        """The paths, by kind of file, that rows of a load file name which is not one of a volume; without zeros."""
        return {kind: count for kind, count in (self.details.get("storedPaths") or {}).items() if count}

    @property
    def corrects(self) -> int | None:
        """The import that `--corrects` names for the error file; None if no file can correct its rows."""
        return self.details.get("correctableAs")


def build_result(
    session: Session, file: Path, state: ImportState, seconds: float, source: Path | None = None
) -> ImportResult:
    """Return the result of an import that has finished, after its reports are downloaded.

    `state` has the details. Raises CommandError.
    """
    if state.failed:
        return ImportResult(file, state, describe_failure(state), seconds, source=source)
    return read_result(session, file, state, seconds, source=source)


def read_result(
    session: Session,
    file: Path,
    state: ImportState,
    seconds: float,
    error: str | None = None,
    source: Path | None = None,
) -> ImportResult:
    """Return the result of an import with its reports and codes, also of one that was cancelled.

    A disk that is full is the error of the result. Raises CommandError.
    """
    try:
        reports = download_reports(session, state)
        codes = read_codes(session.api, state.id, reports.report)
    except OSError as exc:
        error = error or f"every row is imported or rejected, but the reports are not saved: {exc}"
        return ImportResult(file, state, error, seconds, source=source)
    return ImportResult(file, state, error, seconds, reports, codes, source=source)


def keep_profile(
    session: Session, request: ImportRequest, result: ImportResult, display: ProgressDisplay
) -> ImportResult:
    """Save how the file was read, if that is requested; return the result with the profile or the refusal."""
    name = request.save_profile
    if name is None or result.failed or result.state is None:
        return result
    try:
        version = save_profile(session.api, name, result.state.id, request.options)
    except CommandError as exc:
        display.warn(f"the profile is not saved: {exc}")
        return replace(result, is_profile_refused=True)
    return replace(result, saved_profile=SavedProfile(name, version))
