"""What was done to the cases that have volumes, and their documents as they are stored, each with its history.

Nothing of the application is imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.queried import Queried
from tests.torture.models.overlay_rows import FIELD, Key
from tests.torture.models.stored_documents import Entry, decode
from tests.torture.plans.volumes import IMAGES, VolumeCasePlan, VolumePlan

PAGES: Key = (FIELD, "page_set_id")
_CASE = "JOIN cases ON cases.id = e.case_id WHERE tenant_id = :tenant AND cases.name = :case"
_EXHIBITS = f"SELECT e.id, control_number, import_id, line_no, page_set_id FROM exhibits AS e {_CASE}"
_HISTORY = (
    "SELECT h.exhibit_id, h.version, h.action, h.import_id, h.line_no, h.undo_no, h.changes FROM exhibit_changes AS h "
    f"JOIN exhibits AS e ON e.id = h.exhibit_id {_CASE} ORDER BY h.exhibit_id, h.version"
)


@dataclass
class SentVolume:
    """A volume that was sent; `accepted` is how many requests to import it were, and how often it was tried again."""

    plan: VolumePlan
    volume_id: int
    prefix: str
    accepted: int = 0
    is_deleted: bool = False


@dataclass
class VolumeRun:
    """The imports of a volume's load files by kind, and what each was answered as once it had ended."""

    sent: SentVolume
    is_check: bool
    imports: dict[str, int]
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def images(self) -> int:
        """The import of the image load file."""
        return self.imports[IMAGES]


@dataclass
class StoredDocument:
    """A document as it is stored, with its history in the order of versions; `pages` is its page set."""

    id: int
    number: str
    import_id: int
    line: int
    pages: int | None
    entries: list[Entry] = field(default_factory=list)


@dataclass
class VolumeUndo:
    """An undo of an import, as it was answered, and the documents of the case before it."""

    import_id: int
    undo_no: int
    before: Mapping[int, StoredDocument]
    result: dict[str, Any] = field(default_factory=dict)


@dataclass
class VolumeCourse:
    """All that was done to a case; runs of one list went on at once."""

    plan: VolumeCasePlan
    sent: list[SentVolume] = field(default_factory=list)
    steps: list[list[VolumeRun] | VolumeUndo] = field(default_factory=list)

    @property
    def runs(self) -> Iterator[VolumeRun]:
        """All runs."""
        return (run for step in self.steps if not isinstance(step, VolumeUndo) for run in step)

    @property
    def undos(self) -> list[VolumeUndo]:
        """All undos."""
        return [step for step in self.steps if isinstance(step, VolumeUndo)]

    @property
    def imports(self) -> set[int]:
        """All imports of all volumes."""
        return {import_id for run in self.runs for import_id in run.imports.values()}


def read_documents(tenant: str, case: str, at: Queried) -> dict[int, StoredDocument]:
    """Return the documents of a case by their ids, while nothing changes them."""
    place = {"tenant": tenant, "case": case}
    found = {row.id: StoredDocument(*row) for row in at.query(_EXHIBITS, **place)}
    for exhibit, version, action, import_id, line, undo_no, changes in at.query(_HISTORY, **place):
        if exhibit in found:
            found[exhibit].entries.append(Entry(version, action, import_id, line, undo_no, decode(changes)))
    return found
