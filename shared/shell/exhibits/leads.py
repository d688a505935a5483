"""Find, by an index, a small set of exhibits that contains all matches of a list's filters.

Guaranteed: a lead has every exhibit that its filter selects, and each of them once; no filter is left out because of
it. No more entries of an index are read than the bound, to learn whether it has more.
Not guaranteed: in a case with more than MAX_SEARCHED exhibits, that a Bates range alone finds an exhibit whose own
range begins more than LOOKBACK numbers before `batesFrom`, unless few begin up to `batesTo`. The index has where ranges
begin, and not where they end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, union
from sqlalchemy.orm import Session, aliased
from sqlalchemy.sql.selectable import NamedFromClause

from core.bates_numbers import MAX_DIGITS, BatesNumber, list_windows, parse_bates_number
from shell.exhibits import search
from shell.exhibits.case_list import count_documents
from shell.tables.exhibits import Exhibits
from shell.tables.history import ExhibitChanges
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.production_numbers import ProductionNumbers
from shell.utils.db_helpers import force_index, is_in
from shell.utils.key_validation import is_storable

# More pages than a document has.
LOOKBACK = 10_000
HIGHEST = 10**MAX_DIGITS - 1
# So many exhibits are read and sorted faster than a part of a case is searched. Those of a Bates range lie together.
FEW, FEW_IN_RANGE = 1_000, 20_000
# Of so many with a link, those with others are found faster than a part of a case is searched.
FEW_LINKED = 20_000


class Link(NamedTuple):
    """A custodian or tag that the exhibits have."""

    model: type[CustodianExhibits | Taggings]
    name_id: int

    @property
    def key_column(self) -> str:
        """The column with the name's id."""
        return "custodian_id" if self.model is CustodianExhibits else "tag_id"


class Lead(NamedTuple):
    """Exhibits by an index, as SELECTs of their ids.

    `link` is the custodian or tag that they have; `condition` says the same of exhibits that are found otherwise;
    `is_exact`: all of them are exhibits of the case. `ids` is the column of the SELECT that ranges of ids restrict;
    None if the index has no such ranges.
    """

    parts: tuple[Select[Any], ...]
    link: Link | None = None
    condition: ColumnElement[bool] | None = None
    is_exact: bool = False
    ids: Any = None

    def build_source(self) -> NamedFromClause:
        """Return the ids as a table with the column `id`, each once."""
        return self.parts[0].subquery("led") if len(self.parts) == 1 else union(*self.parts).subquery("led")

    def find_any(self, ranges: Sequence[tuple[int, int]]) -> Select[Any]:
        """Return the SELECT of one of the exhibits whose ids are in one of the ranges; `ids` is not None."""
        return self.parts[0].where(or_(*(self.ids.between(*each) for each in ranges))).limit(1)


def lead_by_link(link: Link) -> Lead:
    """Return the lead by a custodian or tag."""
    ids = select(link.model.exhibit_id.label("id")).where(getattr(link.model, link.key_column) == link.name_id)
    index = "ix_custodian_exhibits_custodian" if link.model is CustodianExhibits else "ix_taggings_tag"
    return Lead((force_index(ids, link.model, index),), link, is_exact=True, ids=link.model.exhibit_id)


def lead_by_links(first: Lead, others: Sequence[Link]) -> Lead:
    """Return the lead to those exhibits of a link's lead that have the other links, found by their primary keys."""
    part = first.parts[0]
    for other in others:
        pair = aliased(other.model)
        own = select(pair.exhibit_id).where(
            pair.exhibit_id == first.ids, getattr(pair, other.key_column) == other.name_id
        )
        own = force_index(own.correlate(first.ids.class_), pair, "PRIMARY")
        part = part.where(own.scalar_subquery().is_not(None))
    return Lead((part,))


def has_link(link: Link) -> ColumnElement[bool]:
    """Return the condition that an exhibit has a custodian or tag, which is looked up by its primary key."""
    model = link.model
    own = select(model.exhibit_id).where(
        model.exhibit_id == Exhibits.id, getattr(model, link.key_column) == link.name_id
    )
    return force_index(own.correlate(Exhibits), model, "PRIMARY").exists()


def lacks_tag(tag_id: int) -> ColumnElement[bool]:
    """Return the condition that an exhibit does not have a tag.

    For NOT EXISTS the server may read the links of the whole tag first.
    """
    tagged = select(Taggings.exhibit_id).where(Taggings.exhibit_id == Exhibits.id, Taggings.tag_id == tag_id)
    return force_index(tagged.correlate(Exhibits), Taggings, "PRIMARY").scalar_subquery().is_(None)


def lead_by_ids(ids: Sequence[int]) -> Lead:
    """Return the lead by the ids of exhibits, at least one."""
    condition = is_in(Exhibits.id, ids)
    return Lead((select(Exhibits.id.label("id")).where(condition),), condition=condition)


def lead_by_tags(tag_ids: Sequence[int]) -> Lead:
    """Return the lead to the exhibits that have any of the tags, at least one."""
    column = Taggings.exhibit_id
    ids = select(column.label("id")).distinct().where(is_in(Taggings.tag_id, tag_ids))
    own = select(Taggings.exhibit_id).where(Taggings.exhibit_id == Exhibits.id, is_in(Taggings.tag_id, tag_ids))
    condition = force_index(own.correlate(Exhibits), Taggings, "PRIMARY").exists()
    return Lead((force_index(ids, Taggings, "ix_taggings_tag"),), condition=condition, ids=column)


def lead_by_import(import_id: int) -> Lead:
    """Return the lead by the import that created the exhibits, which is of the case."""
    condition = Exhibits.import_id == import_id
    ids = force_index(select(Exhibits.id.label("id")).where(condition), Exhibits, "ix_exhibits_import")
    return Lead((ids,), condition=condition, is_exact=True)


def lead_by_overlay(import_id: int) -> Lead:
    """Return the lead by the import that overlaid the exhibits; an undo of it has no line."""
    change = ExhibitChanges
    ids = select(change.exhibit_id.label("id")).distinct()
    ids = ids.where(change.import_id == import_id, change.line_no.is_not(None))
    own = select(change.exhibit_id).where(change.exhibit_id == Exhibits.id, change.line_no.is_not(None))
    own = force_index(own.where(change.import_id == import_id).correlate(Exhibits), change, "PRIMARY")
    ids = force_index(ids, change, "ix_exhibit_changes_import")
    return Lead((ids,), condition=own.limit(1).scalar_subquery().is_not(None))


def lead_by_bates_range(case_id: int, first: str | None, last: str | None, lookback: int) -> Lead | None:
    """Return the lead by a Bates range; None for a prefix that no exhibit can have.

    Ranges of the exhibits' own fields are in it that begin in the range, or up to `lookback` numbers before.
    """
    lower, upper = (parse_bates_number(text) if text is not None else None for text in (first, last))
    known = lower or upper
    if known is None or not is_storable(known.prefix, "exhibits", "bates_begin"):
        return None
    lowest, highest = lower.number if lower else 0, upper.number if upper else HIGHEST
    own = select(Exhibits.id.label("id")).where(Exhibits.case_id == case_id)
    own = own.where(or_(*_list_windows(known, max(0, lowest - lookback), highest)))
    claimed = _select_claimed(case_id, known.prefix, lowest, highest)
    return Lead((force_index(own, Exhibits, "ix_exhibits_bates"), claimed))


def _list_windows(known: BatesNumber, lowest: int, highest: int) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions on begins with each count of digits, of which texts in byte order have those numbers."""
    for digits in range(1, MAX_DIGITS + 1):
        last = min(highest, 10**digits - 1)
        if lowest <= last:
            begin: Any = Exhibits.bates_begin
            first_text, last_text = (f"{known.prefix}{number:0{digits}d}" for number in (lowest, last))
            length = func.char_length(begin) == len(known.prefix) + digits
            yield and_(begin.between(first_text, last_text), length)


def _select_claimed(case_id: int, prefix: str, lowest: int, highest: int) -> Select[Any]:
    claim = ProductionNumbers
    windows = (
        and_(claim.level == level, claim.first_number.between(first, last))
        for level, first, last in list_windows(lowest, highest)
    )
    place = (claim.case_id == case_id, claim.prefix == prefix.encode(), claim.last_number >= lowest)
    ids = select(claim.exhibit_id.label("id")).distinct().where(*place, or_(*windows))
    return force_index(ids, claim, "ix_production_numbers_range")


def list_few(reading: Session, leads: Sequence[Lead], most: int) -> list[Lead]:
    """Return the leads of which no SELECT has more than `most` exhibits, by one statement.

    A row that is skipped costs less than one that is counted: a count that ends at a limit needs a temporary table.
    """
    if not leads:
        return []
    skipped = [part.offset(most).limit(1).scalar_subquery() for lead in leads for part in lead.parts]
    found = iter(reading.execute(select(*skipped)).one())
    has_more = [[next(found) is not None for _ in lead.parts] for lead in leads]
    return [lead for lead, more in zip(leads, has_more, strict=True) if not any(more)]


def is_long(reading: Session, case_id: int) -> bool:
    """Return whether the case has more than MAX_SEARCHED exhibits.

    The counts of chunks say so of most long cases; the exhibits are skipped through for those of which they do not.
    """
    if count_documents(reading, case_id) > search.MAX_SEARCHED:
        return True
    rows = force_index(select(Exhibits.id).where(Exhibits.case_id == case_id), Exhibits, "uq_exhibits_control_number")
    return reading.execute(rows.offset(search.MAX_SEARCHED).limit(1)).first() is not None
