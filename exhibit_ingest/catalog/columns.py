"""The columns of documents: the fields of the API, and properties by their names."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from exhibit_ingest.catalog.values import format_date, format_names, quote
from exhibit_ingest.errors import WrongUsageError

# What `GET /exhibits` has of each document, with its custodians and tags.
LISTED = (
    *("control_number", "bates_begin", "bates_end", "parent_control_number", "custodians", "tags", "document_date"),
    *("title", "file_name", "confidentiality", "page_count", "has_native", "has_text", "import_id", "version", "id"),
)
EVENT_DATES = ("date_sent", "date_received", "date_created", "date_modified")
DATES = ("document_date", *EVENT_DATES)
# What `GET /exhibits/{exhibitId}` and an export have besides.
DETAILED = (*EVENT_DATES, "native_path", "text_path", "line")
# The extension of the file name.
TYPE = "type"
# All properties, a column each.
PROPERTIES = "properties"
NAMES = (*LISTED, *DETAILED, TYPE, PROPERTIES)
IN_TABLE = (
    *("control_number", "bates_begin", "bates_end", "document_date", "custodians", "tags", "title", TYPE),
    *("page_count", "has_native", "has_text"),
)
IN_CSV = (
    *("control_number", "bates_begin", "bates_end", "parent_control_number", "custodians", "tags", "document_date"),
    *("title", "file_name", TYPE, "confidentiality", *EVENT_DATES, "page_count", "has_native", "has_text"),
    *("native_path", "text_path", PROPERTIES),
)
IN_JSON = (
    *("control_number", "bates_begin", "bates_end", "title", "file_name", "confidentiality", "document_date"),
    *("version", "id", "parent_control_number", "custodians", "tags", TYPE, "page_count", "has_native", "has_text"),
    "import_id",
)
_PREFIX = "property:"
_MOST_NEAR = 3
# As the API has a document: an item of a list, an exhibit, or a line of an export.
Document = Mapping[str, Any]


class Chosen(NamedTuple):
    """A column of the output: a field, or a property by its name."""

    name: str
    is_property: bool = False

    @property
    def heading(self) -> str:
        """The name in the output; that of a property says so where a field has the name, too."""
        return f"{self.name} (property)" if self.is_property and self.name in NAMES else self.name

    def get_value(self, document: Document) -> Any:
        """Return the value as JSON has it."""
        if self.is_property:
            return document.get(PROPERTIES, {}).get(self.name)
        if self.name == TYPE:
            return find_type(document)
        return document.get(to_camel(self.name))

    def format_cell(self, document: Document) -> str:
        """Return the value as people read it."""
        value = self.get_value(document)
        if self.name in DATES and not self.is_property:
            return format_date(value, document.get("datePrecision", {}).get(self.name))
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return format_names(value)
        return "" if value is None else str(value)


def to_camel(name: str) -> str:
    """Return the name that a field has in the API."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def find_type(document: Document) -> str | None:
    """Return the extension of the file name in small letters, or else of the native's path if that is there."""
    for name in ("fileName", "nativePath"):
        _, dot, extension = (document.get(name) or "").replace("\\", "/").rpartition("/")[2].rpartition(".")
        if dot and extension.isalnum() and len(extension) < 10:
            return str(extension.lower())
    return None


def choose_columns(text: str | None, default: Sequence[str]) -> list[Chosen]:
    """Return the columns that are named, with commas between them; what is no field is taken for a property.

    Case, spaces and underscores of a field do not matter. `property:NAME` is a property also if a field has its name; a
    name with a comma stands in double quotes. Raises WrongUsageError for one that is named twice or blank.
    """
    if text is None:
        return [Chosen(name) for name in default]
    known = {_fold(name): name for name in NAMES}
    chosen = []
    for each in next(csv.reader([text], skipinitialspace=True), []):
        name = each.strip()
        if not name:
            raise WrongUsageError("--columns has a blank name. Write names with commas between them.")
        if name.startswith(_PREFIX):
            chosen.append(Chosen(name.removeprefix(_PREFIX), is_property=True))
        else:
            field = known.get(_fold(name))
            chosen.append(Chosen(field) if field else Chosen(name, is_property=True))
    repeated = next((each for each in chosen if chosen.count(each) > 1), None)
    if repeated:
        raise WrongUsageError(f"--columns names {quote(repeated.name)} twice. Name it once.")
    return chosen


def needs_details(columns: Iterable[Chosen]) -> bool:
    """Return whether a column is not in the list of documents."""
    return any(each.is_property or each.name in (*DETAILED, PROPERTIES) for each in columns)


def resolve_properties(columns: Sequence[Chosen], found: Collection[str], *, has_rows: bool) -> list[Chosen]:
    """Return the columns with those properties that the documents have: `found`, in their order.

    Raises WrongUsageError, with the nearest names, for a property that no document has; without documents, only if its
    name resembles that of a field.
    """
    by_fold = {_fold(name): name for name in reversed(list(found))}
    resolved: list[Chosen] = []
    for each in columns:
        if not each.is_property and each.name == PROPERTIES:
            named = {other.name for other in columns if other.is_property}
            resolved += (Chosen(name, is_property=True) for name in found if name not in named)
        elif not each.is_property or each.name in found:
            resolved.append(each)
        elif _fold(each.name) in by_fold:
            resolved.append(Chosen(by_fold[_fold(each.name)], is_property=True))
        else:
            _refuse(each.name, found, has_rows=has_rows)
            resolved.append(each)
    return resolved


def _refuse(name: str, found: Collection[str], *, has_rows: bool) -> None:
    # A property that has the name of a field was named as one.
    near = find_near(name, found if name in NAMES else [*NAMES, *found])
    if not near and not has_rows:
        return
    advice = f"Did you mean {near}?" if near else f"The fields are {', '.join(NAMES)}."
    raise WrongUsageError(
        f"There is no column {quote(name)}: it is not a field, and no document that was read has a"
        f" property with this name. {advice}"
    )


def find_near(name: str, names: Iterable[str]) -> str:
    """Return the names that resemble `name`, the nearest first, as a message has them; empty if none does."""
    by_fold = {_fold(each): each for each in names}
    near = difflib.get_close_matches(_fold(name), by_fold, _MOST_NEAR)
    return " or ".join(quote(by_fold[each]) for each in near)


def _fold(name: str) -> str:
    return "".join(each for each in name.casefold() if each not in " _-")
