"""Describe how a row differs from the exhibit that the case already holds under its id.

Guaranteed: the message is for the report of an import, which holds values of documents; logs and events never have it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from core.codes import Rejection
from core.load_file.rows import RowError

MAX_COLUMNS, MAX_NAME_CHARACTERS, MAX_FILE_CHARACTERS = 10, 40, 100
# An excerpt begins this many characters before the first difference.
CONTEXT_CHARACTERS, EXCERPT_CHARACTERS = 20, 60

Differences = Mapping[str, tuple[str | None, str | None]]


class Origin(NamedTuple):
    """The import, file and line that an exhibit's values came from; `edited`: a user has changed the exhibit since."""

    import_id: int
    file_name: str
    line_no: int
    edited: bool


def describe_conflict(differences: Differences, origin: Origin) -> RowError:
    """Return the error of a row; `differences` are this row's and the stored text of each column that differs.

    Its column is the one that differs, None if there are several.
    """
    column = next(iter(differences)) if len(differences) == 1 else None
    return RowError(Rejection.EXISTS_WITH_OTHER_VALUES, column, f"{_describe_origin(origin)}, {_list(differences)}")


def describe_missing_link(name: str, column: str, origin: Origin) -> RowError:
    """Return the error of a row with equal values, for a custodian or tag that its exhibit does not have.

    It was removed, or the file was read with another separator before.
    """
    message = f"{_describe_origin(origin)}, without {json.dumps(name, ensure_ascii=False)} in {column}"
    return RowError(
        Rejection.EXISTS_WITH_OTHER_VALUES, column, f"{message}, which the document does not have (any more)."
    )


def _describe_origin(origin: Origin) -> str:
    file = origin.file_name[:MAX_FILE_CHARACTERS]
    source = f"from line {origin.line_no} of {file} (import {origin.import_id})"
    return f"The case already holds this id, {source}{', edited since' if origin.edited else ''}"


def _list(differences: Differences) -> str:
    if not differences:
        return "and only texts that were shortened, removed or edited differ."
    names = [name[:MAX_NAME_CHARACTERS] for name in list(differences)[:MAX_COLUMNS]]
    more = f" and {len(differences) - MAX_COLUMNS} more" if len(differences) > MAX_COLUMNS else ""
    values = (_compare(*pair) for pair in differences.values())
    details = [f"{name}: {value}" for name, value in zip(names, values, strict=False)]
    return f"with other values in {', '.join(names)}{more}. {'; '.join(details)}."


def _compare(here: str | None, stored: str | None) -> str:
    pairs = enumerate(zip(here or "", stored or "", strict=False))
    first = next((at for at, (one, other) in pairs if one != other), min(len(here or ""), len(stored or "")))
    start = max(0, first - CONTEXT_CHARACTERS)
    return f"{_excerpt(here, start)} in this row, {_excerpt(stored, start)} in the case"


def _excerpt(text: str | None, start: int) -> str:
    if not text:
        return "nothing"
    end = start + EXCERPT_CHARACTERS
    excerpt = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
    return json.dumps(excerpt, ensure_ascii=False)
