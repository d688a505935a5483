"""Header names that earlier versions did not know: the columns of files imported then were kept as properties.

They are apart from the other names so that rows of such files are still found unchanged (`Layout.earlier`). A field
gets a column with one of these names only if no column has a known name of it. A name that means different things in
different files is decided by the cells. Names are in the form in which they are compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from itertools import islice


class Content(Enum):
    """What the cells of a column must be: paths or names of files, or ids of documents of the same file."""

    PATHS = auto()
    IDS = auto()


LATER_NAMES: Mapping[str, tuple[str, ...]] = {
    "parent_control_number": ("attachto", "attachedto", "familyparent"),
    "title": ("subject", "emailsubject", "mailsubject", "subjecttitle", "titlesubject", "subjectline"),
    "native_path": (
        *("linknative", "nativedocumentpath", "nativepathfile", "nativedocpath", "edoclink", "edocpath", "nfpath"),
        "exportedpath",
    ),
    "text_path": ("extractedtextfile", "ocrtextfile", "txtpath", "txtfile", "linktext"),
    "date_sent": ("senton", "mailsent", "emailsent", "emailsenton"),
    "custodians": ("custodiansource", "documentcustodian", "doccustodian", "custall", "custodianname"),
}
# In order of preference, after those above.
BY_CONTENT: Mapping[str, tuple[Content, tuple[str, ...]]] = {
    "parent_control_number": (Content.IDS, ("parentguid", "parentuid", "parentuuid")),
    "native_path": (Content.PATHS, ("native", "natives", "link", "hyperlink", "relativepath")),
    "text_path": (
        Content.PATHS,
        ("extractedtext", "ocrtext", "ocr", "fulltext", "bodytext", "doctext", "documenttext", "text"),
    ),
}
# Cells that are looked at, at most.
SAMPLE_VALUES, SAMPLE_RECORDS = 50, 10_000
MAX_PATH_CHARACTERS = 1024
_PATH = re.compile(r"(?!\w+://)[^\r\n\t<>|\"*?]*[^\r\n\t<>|\"*?\\/. ]\.[A-Za-z0-9]{1,8}")
_ENOUGH = 0.9


def decide_fields(
    named: Mapping[int, str], fields: Sequence[str | None], id_column: int, records: Iterable[Sequence[str] | None]
) -> dict[int, str]:
    """Return the fields of columns whose cells decide what their name means, by index.

    `named` are the columns that can get a field, by index; `fields` are those of all columns. A field that has a column
    gets no other one. The records, None for one that cannot be read, are taken only if a column has such a name.
    """
    candidates = list(_list_candidates(named, fields))
    values = _take_values(records, {id_column, *(index for *_, index in candidates)}) if candidates else {}
    decided: dict[int, str] = {}
    for field, content, index in candidates:
        fits = are_paths(values[index]) if content is Content.PATHS else are_ids(values[index], values[id_column])
        if fits and field not in decided.values():
            decided[index] = field
    return decided


def find_paths(indexes: Collection[int], records: Iterable[Sequence[str] | None]) -> set[int]:
    """Return which of these columns have paths as cells; the records are taken only if there are such columns."""
    values = _take_values(records, indexes) if indexes else {}
    return {index for index, found in values.items() if are_paths(found)}


def _list_candidates(named: Mapping[int, str], fields: Sequence[str | None]) -> Iterator[tuple[str, Content, int]]:
    for field, (content, later) in BY_CONTENT.items():
        if field not in fields:
            ranked = sorted((later.index(name), index) for index, name in named.items() if name in later)
            yield from ((field, content, index) for _, index in ranked)


def _take_values(records: Iterable[Sequence[str] | None], indexes: Collection[int]) -> dict[int, list[str]]:
    """Return the values of the columns that are not blank, up to the record with the last one that is needed."""
    values: dict[int, list[str]] = {index: [] for index in indexes}
    for cells in islice(records, SAMPLE_RECORDS):
        for index, found in values.items():
            value = cells[index].strip() if cells and index < len(cells) else ""
            if value:
                found.append(value)
        if all(len(found) >= SAMPLE_VALUES for found in values.values()):
            break
    return values


def are_paths(values: Collection[str]) -> bool:
    """Return whether most of the values, of which none is blank, are paths or names of files."""
    found = sum(len(value) <= MAX_PATH_CHARACTERS and _is_path(value.strip()) for value in values)
    return bool(values) and found >= _ENOUGH * len(values)


def _is_path(value: str) -> bool:
    if not _PATH.fullmatch(value):
        return False
    # "See report.pdf" is a sentence; a folder before the name, or a name without spaces, is none.
    return "\\" in value or "/" in value or " " not in value


def are_ids(values: Collection[str], ids: Iterable[str]) -> bool:
    """Return whether one of the values is an id of the file."""
    return not set(values).isdisjoint(ids)
