"""The state of an import, as the API says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from exhibit_ingest.session.output import name_snake

if TYPE_CHECKING:
    from exhibit_ingest.client.api import Api

CHECKED, SPLITTING = "checked", "splitting"
_FINISHED = ("completed", "completed_with_rejections", CHECKED)
_FAILED = ("failed", "cancelled", "blocked")


def to_camel(name: str) -> str:
    """Return the name of a member in JSON of the API."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def to_snake_names(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an object of the API under their names in snake case."""
    return {name_snake(name): value for name, value in document.items()}


@dataclass(frozen=True)
class ImportState:
    """The state of one import; while it runs, its counts are those of the chunks that are done.

    `details` is the whole response to GET /imports/{id}, and empty if the progress alone was read.
    `waits_for_undo_of` is an import of the case that is being undone: until that has ended, this one is not split,
    unless it is a check.
    """

    id: int
    status: str
    rows_seen: int = 0
    imported: int = 0
    unchanged: int = 0
    updated: int = 0
    rejected: int = 0
    warnings: int = 0
    generation: int = 1
    reports_generation: int = 0
    failure_code: str | None = None
    failure_message: str | None = None
    corrects: int | None = None
    profile: Mapping[str, Any] | None = None
    custodians_created: int = 0
    tags_created: int = 0
    waits_for_undo_of: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ImportState:
        """Return the state in a response to GET /imports/{id} or GET /imports/{id}/progress."""
        named = {each.name: to_camel(each.name) for each in fields(cls) if each.name != "details"}
        values = {name: document[member] for name, member in named.items() if member in document}
        return cls(**values, details=document if "reports" in document else {})

    @property
    def failed(self) -> bool:
        """Whether the import failed or was cancelled, or the import that it comes after did."""
        return self.status in _FAILED

    @property
    def ended(self) -> bool:
        """Whether the import or its check completed, or it failed, was cancelled or is blocked."""
        return self.failed or self.status in _FINISHED

    @property
    def has_reports(self) -> bool:
        """Whether the reports of its last generation, or of its check, are written."""
        if self.status == CHECKED:
            return bool((self.details.get("check") or {}).get("report"))
        return self.reports_generation >= self.generation

    @property
    def finished(self) -> bool:
        """Whether the import failed, or completed with its reports written."""
        return self.failed or (self.ended and self.has_reports)

    @property
    def rows_imported(self) -> int:
        """Number of rows whose values are in the case: imported, unchanged or updated."""
        return self.imported + self.unchanged + self.updated

    @property
    def rows_processed(self) -> int:
        """Number of rows that are imported, unchanged, updated or rejected."""
        return self.rows_imported + self.rejected


def read_import(api: Api, import_id: int) -> ImportState:
    """Return the state of an import with its details. Raises CommandError."""
    return ImportState.read(api.request("GET", f"/imports/{import_id}"))


def read_progress(api: Api, import_id: int) -> ImportState:
    """Return the state of an import without details, which is cheaper. Raises CommandError."""
    return ImportState.read(api.request("GET", f"/imports/{import_id}/progress"))


def describe_failure(state: ImportState) -> str:
    """Return why an import has failed."""
    if state.status == "blocked":
        return "it was not imported, because the data file of its volume was not"
    return f"{state.failure_code}: {state.failure_message}" if state.failure_code else f"the import was {state.status}"
