"""Describe how an import reads the columns of its file: the field of each one, why, and what was not mapped.

Guaranteed: every column is listed, in file order; what a column looks like is judged by its name alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Any

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXT_FIELDS
from core.load_file.field_mapping import MappingReason, find_field
from core.load_file.given_columns import MULTI_COLUMN_FIELDS
from core.load_file.layout import DateColumn, Layout


class ColumnKind(StrEnum):
    """What the values of a column probably are."""

    DATE = "date"
    PERSON = "person"
    ID = "id"
    PATH = "path"


@dataclass(frozen=True)
class ColumnReading:
    """How a column is read.

    `field` is None if the column is kept as a property. Only then `looks_like` may be set, unless the options say that
    the column is a property. A column of dates has the order of day and month, the zone of times without an offset
    (None: they are stored as written), with the version of the database of zones, the column of its times, and the
    format that the options state. A column of custodians or tags has the separator of its values.
    """

    name: str
    field: str | None
    why: MappingReason
    looks_like: ColumnKind | None
    date_order: str | None = None
    time_zone: str | None = None
    time_zone_version: str | None = None
    time_column: str | None = None
    date_format: str | None = None
    separator: str | None = None


_FIELD_KINDS = {
    **dict.fromkeys(DATE_FIELDS, ColumnKind.DATE),
    "custodians": ColumnKind.PERSON,
    **dict.fromkeys(KEYS, ColumnKind.ID),
    **{text.name: ColumnKind.PATH for text in TEXT_FIELDS if text.is_path},
}
# "DateSent", "DATE_SENT" and "Sent date": a word begins after a sign, or with a capital after a small letter.
_WORD = re.compile(r"[A-Z]+s(?![a-z])|[^\W\d_]+?(?=[A-Z][a-z])|[^\W\d_]+")
_DATE_WORD = re.compile(r"date(?:s|d|time|sent|rcvd|recd|crtd|mod|svd|created|received|modified|saved)?|timestamp")
_DATE_NAMES = frozenset({"sent", "received", "created", "modified", "sent on", "received on", "created on"})
_PERSON_WORDS = frozenset(
    {"author", "custodian", "sender", "recipient", "cc", "bcc", "creator", "participant", "owner", "by"}
)
_PERSON_NAMES = frozenset({"from", "to", "sent to", "email from", "email to", "e mail from", "e mail to"})
_ID_WORD = re.compile(
    r"ids?|no|num|number|identifier|bates|guid|uuid|(?:doc|item|parent|family|record|group|attch)ids?"
)
_PATH_WORD = re.compile(r"(?:file|text|native)?(?:path|link)s?|hyperlinks?|folders?|director(?:y|ies)")
_COUNT_WORDS = frozenset({"count", "of", "total", "size", "pages"})


def describe_columns(layout: Layout, at_most: int | None = None) -> list[ColumnReading]:
    """Return how each column is read, or the first `at_most` columns.

    An empty list if the file was split by a version that kept no reasons, or other ones.
    """
    if not set(layout.reasons) <= set(MappingReason):
        return []
    details = {column.index: _describe_date(layout, column) for column in layout.date_columns}
    details |= {
        index: {"separator": layout.lists.separator}
        for index, field in enumerate(layout.fields)
        if field in MULTI_COLUMN_FIELDS
    }
    columns = islice(enumerate(zip(layout.names, layout.fields, layout.reasons, strict=False)), at_most)
    return [
        replace(_describe_column(name, field, MappingReason(why)), **details.get(index, {}))
        for index, (name, field, why) in columns
    ]


def _describe_date(layout: Layout, column: DateColumn) -> dict[str, Any]:
    return {
        "date_order": column.order,
        "time_zone": column.zone,
        "time_zone_version": column.zone and layout.time_zone_version,
        "time_column": None if column.time is None else layout.names[column.time],
        "date_format": column.format,
    }


def _describe_column(name: str, field: str | None, why: MappingReason) -> ColumnReading:
    return ColumnReading(name, field, why, _guess_kind(name) if why is MappingReason.PROPERTY else None)


def _guess_kind(name: str) -> ColumnKind | None:
    """Return what a column with this name probably holds: as a field that is taken, or by the words of the name."""
    meaning = find_field(name)
    if meaning:
        return _FIELD_KINDS.get(meaning)
    words = [word.casefold() for word in _WORD.findall(name)]
    if not words or name.lstrip().startswith("#") or not _COUNT_WORDS.isdisjoint(words):
        return None
    whole = " ".join(words)
    if _ID_WORD.fullmatch(words[-1]) or name.rstrip().endswith("#"):
        return ColumnKind.ID
    if any(map(_PATH_WORD.fullmatch, words)):
        return ColumnKind.PATH
    if any(map(_DATE_WORD.fullmatch, words)) or whole in _DATE_NAMES:
        return ColumnKind.DATE
    if any(word.removesuffix("s") in _PERSON_WORDS for word in words) or whole in _PERSON_NAMES:
        return ColumnKind.PERSON
    return None
