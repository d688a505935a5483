"""The documents of a sample file before faults are added: families, names, tags, dates and text.

Guarantees: the cells of a row and its meaning (`date`, `custodian` ...) are drawn together; neither is derived from the
other.
Does not guarantee: anything after a fault was added; faults change cells and meaning alike.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from samples.columns import Column, IdStyle, Role
from samples.dates import DatePlan
from samples.dialects import can_hold, can_quote
from samples.spec import FaultKind, Spec
from samples.words import (
    CellRules,
    add_special_characters,
    build_random,
    build_tag_paths,
    build_text,
    build_word_pool,
    custodian_names,
    list_breaks,
)


@dataclass
class Row:
    """One record: its cells as a reader must return them, their meaning, and the damage to the written form."""

    index: int
    control: str
    cells: list[str]
    parent: str | None = None
    family_begin: str | None = None
    date: datetime | None = None
    invalid_date: bool = False
    custodian: tuple[str, ...] = ()
    all_custodians: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    faults: frozenset[FaultKind] = frozenset()
    wrong_count: bool = False
    unclosed: int | None = None
    bad_bytes: bytes = b""


@dataclass(frozen=True)
class _Identity:
    control: str
    bates_begin: str
    bates_end: str


@dataclass
class Sheet:
    """The columns and value pools of a file, and the generator of its rows."""

    spec: Spec
    columns: tuple[Column, ...]
    dates: DatePlan
    evident_row: int | None
    rng: random.Random = field(init=False)
    pool: list[str] = field(init=False)
    names: list[str] = field(init=False)
    tag_pool: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = build_random(self.spec.seed, "rows")
        self.pool = build_word_pool(self.spec.alphabets, self.spec.encoding)
        self.names = custodian_names(self.spec.custodians, self.spec.alphabets, self.spec.encoding)
        self.tag_pool = build_tag_paths(self.spec.tags)

    def find_column(self, role: Role) -> int | None:
        """Return the index of the first column of `role`; None where there is no such column."""
        return next((column.index for column in self.columns if column.role is role), None)

    def write(self, row: Row, role: Role, text: str) -> None:
        """Write `text` to the row's first cell of `role`; does nothing where the file has no such column."""
        index = self.find_column(role)
        if index is not None:
            row.cells[index] = text

    def join(self, values: Iterable[str]) -> str:
        """Return several values as the text of one cell."""
        return ("; " if self.spec.spaced_values else ";").join(values)

    def rows(self) -> Iterator[Row]:
        """Generate all rows; call it once per sheet."""
        identities = list(self._identities())
        start = 0
        while start < len(identities):
            size = 1 + (self.rng.randint(1, 3) if self.rng.random() < self.spec.family_share else 0)
            family = identities[start : start + size]
            for offset in range(len(family)):
                yield self._row(start + offset, family, offset)
            start += size

    def _identities(self) -> Iterator[_Identity]:
        page = 1
        for index in range(self.spec.rows):
            last = page + self.rng.choice((1, 1, 2, 3, 12)) - 1
            begin, end = (f"{self.spec.id_prefix}P{number:08d}" for number in (page, last))
            by_bates = self.spec.id_style is IdStyle.BEGDOC
            yield _Identity(begin if by_bates else f"{self.spec.id_prefix}{index + 1:07d}", begin, end)
            page = last + 1

    def _row(self, index: int, family: list[_Identity], offset: int) -> Row:
        identity = family[offset]
        row = Row(index, identity.control, [""] * len(self.columns))
        self.write(row, Role.ID, self._padded(identity.control))
        self.write(row, Role.BATES_BEGIN, identity.bates_begin)
        self.write(row, Role.BATES_END, identity.bates_end)
        self._add_family(row, family, offset)
        self._add_people_and_tags(row)
        self._add_date(row)
        self._add_text(row, identity.control)
        return row

    def _add_family(self, row: Row, family: list[_Identity], offset: int) -> None:
        first, by_bates = family[0], row.index - offset in self.spec.bates_families
        if self.find_column(Role.PARENT) is not None and offset:
            row.parent = first.control
            self.write(row, Role.PARENT, "" if by_bates else row.parent)
        if self.find_column(Role.FAMILY_BEGIN) is not None:
            row.family_begin = first.bates_begin if by_bates else first.control
            self.write(row, Role.FAMILY_BEGIN, row.family_begin)
            self.write(row, Role.FAMILY_END, family[-1].bates_end)

    def _padded(self, control: str) -> str:
        pads = ("", " ", "  ")
        return self.rng.choice(pads) + control + self.rng.choice(pads) if self.spec.padded_ids else control

    def _add_people_and_tags(self, row: Row) -> None:
        hot = self.spec.hot_custodian
        names = [hot] if hot else self.rng.sample(self.names, min(1, len(self.names)))
        if hot is None and self.rng.random() < 0.1:
            names = []
        if self.find_column(Role.CUSTODIAN) is not None:
            row.custodian = tuple(names)
            self.write(row, Role.CUSTODIAN, self.join(row.custodian))
        if self.find_column(Role.ALL_CUSTODIANS) is not None:
            others = self.rng.sample(self.names, min(self.rng.randint(0, 2), len(self.names)))
            row.all_custodians = tuple(dict.fromkeys([*names, *others]))
            self.write(row, Role.ALL_CUSTODIANS, self.join(row.all_custodians))
        if self.find_column(Role.TAGS) is not None:
            row.tags = tuple(self.rng.sample(self.tag_pool, min(self.rng.choice((0, 0, 1, 2, 3)), len(self.tag_pool))))
            self.write(row, Role.TAGS, self.join(row.tags))

    def _add_date(self, row: Row) -> None:
        without_date = self.dates.format.is_ordered and self.evident_row is None
        evident = row.index == self.evident_row
        if self.find_column(Role.DOCUMENT_DATE) is None or without_date or (not evident and self.rng.random() < 0.1):
            return
        text, row.date = self.dates.draw(self.rng, evident)
        self.write(row, Role.DOCUMENT_DATE, text)

    def _add_text(self, row: Row, control: str) -> None:
        suffix = self.rng.choice(("pdf", "eml", "docx", "xlsx", "msg"))
        self.write(row, Role.FILE_NAME, build_text(self.rng, self.pool, 18).replace("\\", "_") + f".{suffix}")
        self.write(row, Role.NATIVE_PATH, f".\\VOL01\\NATIVES\\{control}.{suffix}")
        self.write(row, Role.TEXT_PATH, f".\\VOL01\\TEXT\\{control}.txt")
        for column in self.columns:
            if column.role in (Role.TITLE, Role.PROPERTY):
                row.cells[column.index] = self._free_text(column)

    def _free_text(self, column: Column) -> str:
        spec, rng = self.spec, self.rng
        low, high = spec.title_length if column.role is Role.TITLE else spec.property_length
        text = build_text(rng, self.pool, rng.randint(low, high))
        if rng.random() >= spec.spice:
            return text
        special = add_special_characters(rng, text, self._rules(column))[:high].rstrip(
            spec.dialect.delimiter + " ®\r\n"
        )
        return special if can_hold(spec.dialect, spec.quoting, column.index, special) else text

    def _rules(self, column: Column) -> CellRules:
        spec = self.spec
        quotable = can_quote(spec.dialect, spec.quoting, column.index)
        lined = spec.embedded_newlines and quotable and column.index > 0
        newline = "\n" if spec.embedded_lf else spec.newline
        marks = list_breaks(spec.newline_marks, newline if lined else "")
        return CellRules(spec.dialect.delimiter, spec.dialect.qualifier, quotable, marks)
