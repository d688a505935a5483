"""What can be exported, and the columns of each kind in their order; the names are those of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS

# Days from the start of its work that the file of an export can be downloaded; template.yaml expires it after as many.
KEPT_DAYS = 7


class ExportKind(StrEnum):
    """What the rows of an export are."""

    DOCUMENTS = "documents"
    PAGES = "pages"
    TAGS = "tags"
    HISTORY = "history"


class ExportFormat(StrEnum):
    """The format of an export's file."""

    CSV = "csv"
    JSONL = "jsonl"


# By kind, in snake_case: the API and the files have them in camelCase.
COLUMNS: Mapping[ExportKind, tuple[str, ...]] = {
    ExportKind.DOCUMENTS: (
        *("id", *KEYS, *TEXTS, *DATE_FIELDS, "date_precision", "custodians", "tags", "properties"),
        *("has_native", "has_text", "page_count", "import_id", "line", "version"),
    ),
    ExportKind.PAGES: (
        *("exhibit_id", "control_number", "page", "image_key", "volume_id", "file", "path", "page_in_file"),
        *("rotation", "import_id"),
    ),
    ExportKind.TAGS: ("exhibit_id", "control_number", "tag", "user_id"),
    ExportKind.HISTORY: (
        *("exhibit_id", "control_number", "version", "action", "user_id", "changed_at", "import_id", "line"),
        *("undo_no", "tagging_job_id", "kind", "name", "old", "new"),
    ),
}


def to_camel(name: str) -> str:
    """Return the name of a column in requests and files."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def choose_columns(kind: ExportKind, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns with these names of the API, in the given order; without names, all columns of the kind.

    Raises ValueError, with the names that the kind has, for an unknown name and for one that is given twice.
    """
    known = {to_camel(column): column for column in COLUMNS[kind]}
    if names is None:
        return tuple(known.values())
    wrong = [number for number, name in enumerate(names, start=1) if name not in known or name in names[: number - 1]]
    if wrong:
        raise ValueError(f"column {wrong[0]} is unknown or repeated; the columns of {kind} are {', '.join(known)}")
    return tuple(known[name] for name in names)
