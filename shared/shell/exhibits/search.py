"""Select exhibits by values for which there is no index of the case: import, date, Bates range, files, texts.

Guaranteed: a request reads at most MAX_SEARCHED exhibits for them, or is refused. Each index on exhibits would make
every import slower; so a larger case is searched only within the exhibits of a custodian or tag that has fewer. The
indexes on import and first Bates number find rows of an import and equal numbers; no filter relies on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Select, and_, case, cast, false, func, or_, select
from sqlalchemy.orm import QueryableAttribute, Session

from core.bates_numbers import MAX_DIGITS, parse_bates_number
from core.contracts.queries import ExhibitQuery
from core.errors import FilterTooBroadError
from core.exhibit_fields import FILTERED_TEXTS, Filter, TextField
from shell.exhibits.numbers import has_claim
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.volumes import NO_FILE, ExhibitFiles
from shell.utils.key_validation import is_storable

# Reading 100,000 exhibits took 0.2 to 2 s; a request may take 25 s.
MAX_SEARCHED = 100_000
# Of the SHA-256 of a path, in exhibit_files.text_hash.
HASH_BYTES = 16
_LINKS: dict[str, tuple[type[Custodians | Tags], QueryableAttribute[int], QueryableAttribute[int]]] = {
    "custodian": (Custodians, CustodianExhibits.custodian_id, CustodianExhibits.exhibit_id),
    "tag": (Tags, Taggings.tag_id, Taggings.exhibit_id),
}


class NarrowLink(NamedTuple):
    """The filter, `custodian` or `tag`, whose links are read first, and the id of its custodian or tag."""

    filter: str
    id: int

    def lead(self, statement: Select[Any]) -> Select[Any]:
        """Return the SELECT of exhibits so that the server reads the links, and then their exhibits by id.

        By itself the server may choose to read the whole case in the order of the page.
        """
        _, key, exhibit_id = _LINKS[self.filter]
        joined = statement.select_from(key.class_).join(Exhibits, Exhibits.id == exhibit_id)
        return joined.where(key == self.id).prefix_with("STRAIGHT_JOIN")


def find_narrow_link(reading: Session, case_id: int, query: ExhibitQuery) -> NarrowLink | None:
    """Return the links to read first in a case with more than MAX_SEARCHED exhibits; None for a smaller one.

    Also None if a control number selects one exhibit. Raises FilterTooBroadError if neither the custodian nor the tag
    of the query has few enough exhibits.
    """
    if query.control_number is not None or not _is_long(
        reading, select(Exhibits.id).where(Exhibits.case_id == case_id)
    ):
        return None
    for name in _LINKS:
        if link := _find_link(reading, case_id, name, getattr(query, name)):
            return link
    raise FilterTooBroadError(
        f"These filters read every exhibit that the others leave, at most {MAX_SEARCHED:,}, and the case has more: add "
        f"a custodian or a tag that at most {MAX_SEARCHED:,} exhibits have, or a control number."
    )


def _find_link(reading: Session, case_id: int, name: str, value: str | None) -> NarrowLink | None:
    model, key, exhibit_id = _LINKS[name]
    if value is None or not is_storable(value, model.__tablename__, "name"):
        return None
    found = reading.scalars(select(model.id).where(model.case_id == case_id, model.name == value)).one_or_none()
    if found is None or _is_long(reading, select(exhibit_id).where(key == found)):
        return None
    return NarrowLink(name, found)


def _is_long(reading: Session, statement: Select[Any]) -> bool:
    """Return whether the SELECT has more than MAX_SEARCHED rows, without reading any beyond that."""
    rows = statement.limit(MAX_SEARCHED + 1).subquery()
    return int(reading.execute(select(func.count()).select_from(rows)).scalar_one()) > MAX_SEARCHED


def build_search_conditions(case_id: int, query: ExhibitQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the query that need the exhibits to be read; none if it has no such filter."""
    if query.import_id is not None:
        yield Exhibits.import_id == query.import_id
    if query.date_from is not None:
        yield Exhibits.document_date >= query.date_from
    if query.date_to is not None:
        yield Exhibits.document_date < query.date_to + timedelta(days=1)
    if query.bates_from is not None or query.bates_to is not None:
        yield _is_in_bates_range(case_id, query.bates_from, query.bates_to)
    for condition, expected in (
        (_has_file("native", Exhibits.native_path), query.has_native),
        (_has_text(), query.has_text),
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


def _has_text() -> ColumnElement[bool]:
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
