"""A corrected row is as in a file that was right from the start, in every dialect and with every option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.application.driver import World
from tests.support.imports.corrected_rows import correct, dump_case, get_state, list_rows, set_cell

MARK = "\u00ae"


@dataclass(frozen=True)
class Case:
    """Rows as cells, of which the last one is rejected for its id, and how they are written as a file."""

    rows: Sequence[Sequence[str]]
    delimiter: str = ","
    qualifier: str = '"'
    end: str = "\r\n"
    encoding: str = "utf-8"
    tail: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    id_column: int = 0

    def write(self, number: str) -> bytes:
        """The file, whose last row has this id."""
        last = list(self.rows[-1])
        last[self.id_column] = number
        q, d = self.qualifier, self.delimiter
        lines = [d.join(f"{q}{cell}{q}" for cell in row) + self.tail + self.end for row in (*self.rows[:-1], last)]
        return "".join(lines).encode(self.encoding)


DATES = ("Control Number", "Date Sent", "Time Sent", "Title")
NAMES = ("Control Number", "Custodian", "Tags", "Title")
TEXTS = ("Control Number", "Extracted Text", "Title")
LINES = ("Control Number", "Title", "Note", "Native Path")
CASES = {
    "day first": Case([DATES, ("A-1", "13/05/2019", "10:00", "x"), ("", "03/04/2019", "11:30", "y")]),
    "month first": Case([DATES, ("A-1", "05/13/2019", "10:00", "x"), ("", "03/04/2019", "11:30", "y")]),
    "zone": Case(
        [DATES, ("A-1", "2019-05-13", "10:00", "x"), ("", "2019-04-03", "11:30", "y")],
        options={"time_zone": "Europe/Berlin"},
    ),
    "format": Case(
        [DATES, ("A-1", "13.05.19", "10:00", "x"), ("", "03.04.19", "11:30", "y")],
        options={"date_format": {"date_sent": "%d.%m.%y"}},
    ),
    "cp1252": Case([LINES, ("A-1", "Müller", "€", ""), ("", "Großmann – „Q“", "ñ", "")], encoding="cp1252"),
    "utf-16": Case([LINES, ("A-1", "Müller", "€", ""), ("", "日本", "ñ", "")], encoding="utf-16"),
    "concordance": Case(
        [LINES, ("A-1", f"one{MARK}two", "n", ""), ("", f"three{MARK}four", f"a{MARK}b", rf"N\{MARK}.doc")],
        delimiter="\x14",
        qualifier="þ",
    ),
    "real lines": Case(
        [LINES, ("A-1", f"one{MARK}two", "n", ""), ("", "three\r\nfour\nfive", f"a{MARK}b", "x.doc")],
        delimiter="\x14",
        qualifier="þ",
    ),
    "CR": Case([LINES, ("A-1", "one", "n", ""), ("", "two", "m", "")], end="\r", options={"line_ends": "cr"}),
    "spare": Case([LINES, ("A-1", "one", "n", "z"), ("", "two", "m", "")], tail=","),
    "tab": Case([LINES, ("A-1", "one", "n", ""), ("", "two, too", "m", "")], delimiter="\t", qualifier=""),
    "no header": Case(
        [("A-1", "one", "n", ""), ("", "two", "m", "")],
        options={"header": False, "columns": {"1": "control_number", "2": "title"}},
    ),
    "lists": Case([NAMES, ("A-1", "Ann; Bob", "a;b", "x"), ("", "Bob;Eve ; Ann", "b;c", "y")]),
    "separator": Case(
        [NAMES, ("A-1", "Ann|Bob", "a|b", "x"), ("", "Bob|Eve;X", "b|c", "y")],
        options={"multi_value_separator": "|"},
    ),
    "text": Case([TEXTS, ("A-1", "the text", "x"), ("", f"a long text{MARK} of a cell", "y")]),
    "decided by others": Case(
        [("Doc", "Beg Bates", "Sent"), ("A", "N-1", "01.02.2019"), ("B", "", "03.04.2019")], id_column=1
    ),
    "properties": Case([("Control Number", "Odd", "ODD ", "Pages"), ("A-1", "1", "", "3"), ("", " 2 ", "Yes", "x")]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_corrected_row_is_as_if_it_had_been_right(world: World, case: Case) -> None:
    world.run(case.write("A-2"), case="Right", **case.options)
    import_id = world.run(case.write(""), case="Corrected", **case.options)
    (row,) = list_rows(import_id)
    assert [error["code"] for error in row["errors"]] == ["MISSING_ID"]
    assert row["errors"][0]["columnNumber"] == case.id_column + 1
    corrected = correct(world, import_id, {row["line"]: set_cell(case.id_column, "A-2")})
    right = dump_case(world, "Right")
    assert len(right) == 2
    assert dump_case(world, "Corrected") == right
    state = get_state(corrected)
    assert (state["status"], state["imported"], state["corrects"]) == ("completed", 1, import_id)
    state = get_state(import_id)
    assert (state["openRejections"], state["rejected"], state["correctedBy"]) == (0, 1, [corrected])


def test_a_cell_may_have_what_its_dialect_cannot_write(world: World) -> None:
    """The file has no qualifier; the corrected cell has its delimiter, a line end, and what JSON escapes."""
    text = 'a\tb\r\nc "d" \\ \u2028 e'
    case = Case([LINES, ("A-1", "one", "n", ""), ("", "t", "m", "")], delimiter="\t", qualifier="")
    right = Case([LINES, ("A-1", "one", "n", ""), ("", text.replace('"', '""'), "m", "")])
    world.run(right.write("A-2"), case="Right")
    import_id = world.run(case.write(""), case="Corrected")
    correct(world, import_id, {3: lambda cells: ["A-2", text, *cells[2:]]})
    assert dump_case(world, "Corrected") == dump_case(world, "Right")


def test_the_obvious_way_would_read_another_date(world: World) -> None:
    """Negative control: the corrected row as a file of its own, with equal options, is read month first."""
    case = CASES["day first"]
    world.run(case.write("A-2"), case="Right")
    world.run(Case(case.rows[:2]).write("A-1"), case="Corrected")
    world.run(Case([case.rows[0], case.rows[2]]).write("A-2"), case="Corrected")
    assert dump_case(world, "Corrected") != dump_case(world, "Right")
