"""What a column amounts to: columns without any effect, words, placeholders, short years and other separators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import WarningCode
from core.imports.columns.effects import EFFECTS
from core.imports.columns.facts import (
    ColumnCells,
    ColumnFacts,
    find_facts,
    merge_facts,
    note_dates,
    read_facts,
    write_facts,
)
from core.imports.columns.warnings import list_warnings
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout
from core.load_file.list_values import ListSigns

FIELDS = ("control_number", "date_sent", "time_sent", "custodians", "tags", "title")
NAMES = ("Id", "Date Sent", "Time Sent", "Custodian", "Tags", "Title")


def layout_of(fields: Sequence[str | None] = FIELDS, lists: ListSigns | None = None) -> Layout:
    names = NAMES[: len(fields)]
    layout = Layout("utf-8", Grammar(",", '"', len(names)), "®", names, tuple(fields), "MDY", 0, 1, date_rules=2)
    return replace(layout, lists=lists or ListSigns())


def facts_of(layout: Layout, rows: Sequence[Sequence[str]], first_line: int = 2) -> ColumnFacts:
    columns = [*zip(*rows, strict=True)] or [() for _ in layout.names]
    lines = range(first_line, first_line + len(rows))
    return find_facts(layout, ColumnCells([*lines], columns, note_dates(layout, columns)))


def warned(rows: Sequence[Sequence[str]], layout: Layout | None = None) -> list[tuple[str, str]]:
    layout = layout or layout_of()
    return [(each.code.value, each.column) for each in list_warnings(layout, facts_of(layout, rows))]


WITHOUT = {"date": "May 2001", "time": "noon", "list": ";®; "}


@pytest.mark.parametrize("field", EFFECTS)
def test_a_column_without_any_effect_is_told_and_one_cell_with_an_effect_is_enough(field: str) -> None:
    kind = "list" if field in ("custodians", "tags") else "time" if "time" in field else "date"
    date = field.replace("time", "date")
    fields = ("control_number", date, field) if kind == "time" else ("control_number", field, "title")
    layout, index = layout_of(fields), fields.index(field)
    rows = [["A-1", "1/2/2003", ""], ["A-2", "1/2/2003", ""], ["A-3", "1/2/2003", ""], ["A-4", "1/2/2003", ""]]
    for row in rows:
        row[index] = WITHOUT[kind]
    warnings = list_warnings(layout, facts_of(layout, rows))
    assert [(each.code, each.column) for each in warnings] == [(WarningCode.COLUMN_WITHOUT_EFFECT, NAMES[index])]
    assert f"none of its 4 values has an effect: {WITHOUT[kind]!r} in line 2" in warnings[0].message
    assert "line 4" in warnings[0].message
    assert "line 5" not in warnings[0].message
    rows[3][index] = {"date": "1/2/2003", "time": "3:00 PM", "list": "Lee"}[kind]
    assert warned(rows, layout) == []
    for row in rows:
        row[index] = " "
    assert warned(rows, layout) == []
    assert list_warnings(layout, facts_of(layout, [["A-1", "May 2001", "noon"]]), is_complete=False) == []


def test_words_placeholders_and_short_years_are_counted_once_for_a_column() -> None:
    cells = ["N/A", "null", "1/1/1900", "9/9/9999", "5/21/01", "5/21/2001"]
    layout = layout_of()
    rows = [[f"A-{number}", cell, "", "", "", ""] for number, cell in enumerate(cells)]
    found = {each.code.value: each.message for each in list_warnings(layout, facts_of(layout, rows))}
    assert list(found) == ["NO_DATE_STATED", "DATE_PLACEHOLDER", "TWO_DIGIT_YEAR"]
    assert "2 cells say" in found["NO_DATE_STATED"]
    assert "as in line 2: 'N/A'" in found["NO_DATE_STATED"]
    assert "2 dates are" in found["DATE_PLACEHOLDER"]
    assert "1 year has" in found["TWO_DIGIT_YEAR"]


SEPARATED = {
    "|": ["Ann Lee|Bob Ray", "Cy"],
    "¦": ["Ann Lee¦Bob Ray"],
    "tab": ["Ann Lee\tBob Ray"],
    ",": ["Ann Lee, Bob Ray", "Cy Doe, Di Eck"],
    "/": ["Ann Lee/Bob Ray"],
    None: ["Ann Lee; Bob|Ray", "Lee, Ann", "IT/Legal", ""],
    "none": ["Lee, Ann", "Ann Lee, Bob Ray", "Ray, Bob, Esq."],
}


@pytest.mark.parametrize("sign", SEPARATED)
def test_another_separator_is_told(sign: str | None) -> None:
    layout = layout_of()
    rows = [[f"A-{number}", "", "", cell, "", ""] for number, cell in enumerate(SEPARATED[sign])]
    warnings = list_warnings(layout, facts_of(layout, rows))
    expected = [] if sign in (None, "none") else [(WarningCode.OTHER_SEPARATOR, "Custodian")]
    assert [(each.code, each.column) for each in warnings] == expected
    assert all(f"contain {sign!r}" in each.message and "multi_value_separator" in each.message for each in warnings)
    assert all("has already, import the file again with the option and mode 'overlay'" in x.message for x in warnings)


def test_a_separator_within_quotation_marks_is_told_unless_it_is_stated() -> None:
    rows = [["A-1", "", "", '"Lee; Ann"; Ray', "", ""], ["A-2", "", "", '5" disk; 6" disk', "", ""]]
    assert warned(rows) == [("OTHER_SEPARATOR", "Custodian")]
    assert warned(rows[1:]) == []
    assert warned(rows, layout_of(lists=ListSigns(has_quotes=True))) == []


CELLS = st.sampled_from(
    [
        "",
        " ",
        "N/A",
        "May 2001",
        "5/21/2001",
        "5/21/01",
        "1/1/1900",
        "15:00",
        "a|b",
        "a;b",
        ";",
        '"a;b"',
        "A B, C D",
        "x" * 300,
    ]
)


@given(
    rows=st.lists(st.lists(CELLS, min_size=6, max_size=6), max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=3),
    shuffle=st.randoms(use_true_random=False),
)
def test_facts_of_chunks_in_any_order_are_those_of_the_file(
    rows: list[list[str]], cuts: list[int], shuffle: Random
) -> None:
    layout, bounds = layout_of(), sorted({0, len(rows), *(cut for cut in cuts if cut <= len(rows))})
    parts = [facts_of(layout, rows[start:end], 2 + start) for start, end in pairwise(bounds)]
    shuffle.shuffle(parts)
    merged = merge_facts(read_facts([*map(write_facts, parts)]))
    assert list_warnings(layout, merged) == list_warnings(layout, facts_of(layout, rows))
