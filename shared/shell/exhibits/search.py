"""Conditions on exhibits for which there is no index of the case: date, Bates range, files, texts, images.

Each index on exhibits would make every import slower. So a request searches a part of a large case, and the next one
goes on: `shell.exhibits.match_keys`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy import BigInteger, ColumnElement, and_, case, cast, false, func, or_, select
from sqlalchemy.orm import QueryableAttribute

from core.bates_numbers import MAX_DIGITS, parse_bates_number
from core.contracts.exhibit_queries import ExhibitQuery
from core.exhibit_fields import FILTERED_TEXTS, Filter, TextField
from shell.exhibits.numbers import has_claim
from shell.tables.exhibits import Exhibits
from shell.tables.volumes import NO_FILE, ExhibitFiles
from shell.utils.key_validation import is_storable

# Exhibits that one search looks at for a link; for each condition more, it looks at fewer. It takes 0.1 to 0.3 s.
MAX_SEARCHED = 100_000
# Of the SHA-256 of a path, in exhibit_files.text_hash.
HASH_BYTES = 16


def build_search_conditions(case_id: int, query: ExhibitQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the query that need the exhibits to be read; none if it has no such filter."""
    if query.date_from is not None:
        yield Exhibits.document_date >= query.date_from
    if query.date_to is not None:
        yield Exhibits.document_date < query.date_to + timedelta(days=1)
    if query.bates_from is not None or query.bates_to is not None:
        yield _is_in_bates_range(case_id, query.bates_from, query.bates_to)
    for condition, expected in (
        (has_native(), query.has_native),
        (has_text(), query.has_text),
        (Exhibits.page_set_id.is_not(None), query.has_images),
    ):
        if expected is not None:
            yield condition if expected else ~condition
    for field in FILTERED_TEXTS:
        if (text := getattr(query, field.name)) is not None:
            yield from _match_text(field, text)


def _match_text(field: TextField, text: str) -> Iterator[ColumnElement[bool]]:
    column: QueryableAttribute[str | None] = getattr(Exhibits, field.name)
    for part in text.split() if field.filter is Filter.WORDS else [text]:
        if not is_storable(part, "exhibits", field.name):
            yield false()
        else:
            yield column.contains(part, autoescape=True) if field.filter is Filter.WORDS else column == part


def has_native() -> ColumnElement[bool]:
    """Return the condition that the exhibit has a native file."""
    return _has_file("native", Exhibits.native_path)


def has_text() -> ColumnElement[bool]:
    """Return the condition that the exhibit has a text file; or, without a path, a text in cells."""
    in_cells = and_(func.coalesce(Exhibits.text_path, "") == "", Exhibits.text_id.is_not(None))
    return or_(_has_file("text", Exhibits.text_path), in_cells)


def _has_file(kind: str, column: QueryableAttribute[str | None]) -> ColumnElement[bool]:
    """Return the condition that the exhibit has a path, of which no volume that was to have its file lacked it.

    Of several volumes one is enough. The few rows of an exhibit and kind are found by the primary key.
    """
    link, path = ExhibitFiles, func.coalesce(column, "")
    text_hash = func.unhex(func.left(func.sha2(path, 256), 2 * HASH_BYTES))
    files = select(func.max(link.file_id)).correlate(Exhibits)
    file_id = files.where(link.exhibit_id == Exhibits.id, link.kind == kind, link.text_hash == text_hash)
    # NULL: no import of a volume gave the document this path.
    return and_(path > "", func.coalesce(file_id.scalar_subquery(), NO_FILE + 1) > NO_FILE)


def _is_in_bates_range(case_id: int, first: str | None, last: str | None) -> ColumnElement[bool]:
    """Return the condition that numbers of the exhibit with this prefix, of its fields or claimed, are in the range.

    An exhibit without an end, or with one that has another prefix or no number, has its first number only.
    """
    lower, upper = (parse_bates_number(text) if text is not None else None for text in (first, last))
    known = lower or upper
    if known is None or not is_storable(known.prefix, "exhibits", "bates_begin"):
        return false()
    begin = _read_number(Exhibits.bates_begin, known.prefix)
    end = case((_has_number(Exhibits.bates_end, known.prefix), _read_number(Exhibits.bates_end, known.prefix)))
    conditions = [_has_number(Exhibits.bates_begin, known.prefix)]
    if lower is not None:
        conditions.append(or_(begin >= lower.number, end >= lower.number))
    if upper is not None:
        conditions.append(begin <= upper.number)
    return or_(and_(*conditions), has_claim(case_id, lower, upper))


def _has_number(column: QueryableAttribute[str | None], prefix: str) -> ColumnElement[bool]:
    """Return the condition that the column is the prefix and 1 to 18 digits."""
    rest = func.substring(column, len(prefix) + 1)
    digits = func.char_length(rest).between(1, MAX_DIGITS)
    return and_(column.startswith(prefix, autoescape=True), digits, ~rest.regexp_match("[^0-9]"))


def _read_number(column: QueryableAttribute[str | None], prefix: str) -> ColumnElement[int]:
    return cast(func.substring(column, len(prefix) + 1), BigInteger)
