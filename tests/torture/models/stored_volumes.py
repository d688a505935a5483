"""What was done to the cases that have volumes: what was sent, imported and undone, in its order.

Nothing of the application is imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.torture.models.stored_documents import Stored
from tests.torture.plans.volumes import IMAGES, VolumeCasePlan, VolumePlan


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
class VolumeUndo:
    """An undo of an import, as it was answered, and the documents of the case before it."""

    import_id: int
    undo_no: int
    before: Mapping[int, Stored]
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
