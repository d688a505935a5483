"""What was requested of a held import, and what its file gives with the options of each version.

Nothing of the application is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.torture.models.fold import Document
from tests.torture.models.overlay_rows import create
from tests.torture.plans.held import READINGS, HeldPlan, Reading
from tests.torture.plans.overlays import CONTROL_NUMBER


@dataclass
class HeldCourse:
    """The readings by the version of the options, and the versions that users have confirmed by a run."""

    plan: HeldPlan
    import_id: int = 0
    readings: dict[int, int] = field(default_factory=dict)
    confirmed: list[int] = field(default_factory=list)

    @property
    def version(self) -> int:
        """The last version."""
        return max(self.readings)

    @property
    def reading(self) -> Reading:
        """The last reading."""
        return READINGS[self.readings[self.version]]


def read_documents(plan: HeldPlan, reading: Reading) -> dict[int, tuple[str, Document]]:
    """Return control number and values of each document that the file gives, by line; other rows are rejected."""
    found: dict[int, tuple[str, Document]] = {}
    for line, cells in plan.rows.items():
        known = {CONTROL_NUMBER: cells[reading.number], "Title": cells[reading.title]}
        others = {name: cell for name, cell in cells.items() if name not in (reading.number, reading.title)}
        if cells[reading.number]:
            found[line] = (cells[reading.number], create(known | others))
    return found
