"""Columns of second Bates ranges: which are found, and what a row states in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.imports.production_columns import ProductionColumns, StatedRange
from core.load_file.field_mapping import explain_columns
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout


def read(header: str, cells: str, *, judges_keys: bool = False, **columns: str) -> list[StatedRange]:
    """The other ranges of a row of a file with this header."""
    names = tuple(header.split(","))
    found = explain_columns(names, columns)
    fields, reasons = tuple(each.field for each in found), tuple(each.why for each in found)
    layout = Layout("utf-8", Grammar(",", '"', len(names)), None, names, fields, "MDY", 0, 1, reasons=reasons)
    layout = replace(layout, judges_keys=judges_keys)
    return ProductionColumns.find(layout).read_others(cells.split(","))


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("DOCID,BEGBATES,ENDBATES", "D,A1,A2", []),
        ("DOCID,BEGBATES,ENDBATES,PRODBEG,PRODEND", "D,A1,A2,B1,B2", [(1, "B1", "B2", None)]),
        ("DOCID,BEGBATES,ENDBATES,PRODBEG,PRODEND", "D,A1,A2, , ", []),
        ("DOCID,BEGBATES,ENDBATES,PRODBEG,PRODEND", "D,A1,A2,A1,A2", []),
        ("DOCID,BEGBATES,ENDBATES,BEGBATES (2),ENDBATES (2)", "D,A1,A2,B1,B2", [(1, "B1", "B2", None)]),
        (
            "DOCID,One::Begin Bates,One::End Bates,Two::Begin Bates,Two::End Bates",
            "D,A1,A2,B1,B2",
            [(1, "B1", "B2", "Two")],
        ),
        ("DOCID,BEGBATES,PRODBEG,Prod Volume", "D,A1,B1,VOL2", [(1, "B1", None, "VOL2")]),
        ("DOCID,BEGBATES,PRODEND", "D,A1,B2", []),
        ("DOCID,BEGATTACH,ENDATTACH,BEGBATES", "D,A1,A9,A2", []),
    ],
)
def test_other_ranges_are_those_of_columns_that_feed_no_field(
    header: str, cells: str, expected: list[tuple[int, str, str | None, str | None]]
) -> None:
    assert read(header, cells) == expected


def test_a_column_that_the_options_make_a_property_is_that_only() -> None:
    header, cells = "DOCID,BEGBATES,ENDBATES,PRODBEG,PRODEND", "D,A1,A2,B1,B2"
    assert read(header, cells, PRODBEG="property") == []


def test_numbers_are_taken_out_of_formulas_where_keys_are() -> None:
    header, cells = "DOCID,BEGBATES,ENDBATES,PRODBEG,PRODEND", 'D,="A1",="A2",="B1",="B2"'
    assert read(header, cells, judges_keys=True) == [(1, "B1", "B2", None)]
    assert read(header, cells) == [(1, '="B1"', '="B2"', None)]
