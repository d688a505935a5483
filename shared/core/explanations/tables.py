"""All explanations, by the place where they appear. A code can appear in two places with two meanings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from core.explanations.checks import FINDINGS
from core.explanations.explanation import Explanation
from core.explanations.failures import FAILED_FILES, FAILED_VOLUMES
from core.explanations.images import IMAGE_WARNINGS, REJECTED_DOCUMENTS
from core.explanations.kept import KEPT
from core.explanations.rows import REJECTED_ROWS
from core.explanations.volume_files import VOLUME_FILES
from core.explanations.warnings import WARNINGS


class Consequence(StrEnum):
    """What follows from a message: nothing is imported, the row or document is not, all is, or an undo keeps it."""

    FAILURE = "failure"
    REJECTION = "rejection"
    WARNING = "warning"
    KEPT = "kept"


class CodeTable(NamedTuple):
    """The codes of one place, all of one consequence. Those of a volume's files reject if `missing_files` says so."""

    consequence: Consequence
    explanations: Mapping[str, Explanation]


# In the order in which a code is looked up: its meaning for a row comes before that for an image.
TABLES = {
    "rejected rows": CodeTable(Consequence.REJECTION, REJECTED_ROWS),
    "rejected documents": CodeTable(Consequence.REJECTION, REJECTED_DOCUMENTS),
    "warnings": CodeTable(Consequence.WARNING, WARNINGS),
    "findings": CodeTable(Consequence.WARNING, FINDINGS),
    "files": CodeTable(Consequence.WARNING, VOLUME_FILES),
    "image warnings": CodeTable(Consequence.WARNING, IMAGE_WARNINGS),
    "failed files": CodeTable(Consequence.FAILURE, FAILED_FILES),
    "failed volumes": CodeTable(Consequence.FAILURE, FAILED_VOLUMES),
    "kept": CodeTable(Consequence.KEPT, KEPT),
}


def get_explanation(code: str, consequence: Consequence, *, of_images: bool = False) -> Explanation:
    """Return what a code means there; one that rejects because of an option has the text of its warning.

    Raises KeyError if there is none.
    """
    tables = [table.explanations for table in TABLES.values() if table.consequence == consequence]
    tables = [*(reversed(tables) if of_images else tables), VOLUME_FILES, IMAGE_WARNINGS]
    for table in tables:
        if code in table:
            return table[code]
    raise KeyError(code)
