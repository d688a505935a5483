"""What a check finds across the chunks of a file and the case, through the functions; and how it compares names."""

from __future__ import annotations

from sqlalchemy import Connection, text

from shell.imports.checks.queries import list_findings
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import World

HEADER = "Control Number,Bates Begin,Bates End,Parent,Date,Custodian\r\n"
HELD = HEADER + 'H-1,ABC000001,ABC000003,,,"Doe, Jane"\r\n'
# One chunk a row: a gap and an overlap with the case across chunks, parents in the case and nowhere, a circle.
FILE = (
    HEADER + "F-1,ABC000003,ABC000004,H-1,,\r\n"
    "F-2,ABC000007,ABC000008,nowhere,1950-01-01,Jane Doe\r\n"
    "F-3,ABC000009,ABC000009,F-4,2100-01-01,\r\n"
    "F-4,ABC000010,ABC000010,F-3,,\r\n"
)


def test_what_needs_the_whole_file_and_the_case_is_found_across_chunks(world: World, chunk_rows: Chunks) -> None:
    world.run(HELD.encode())
    chunk_rows(1)
    import_id = world.run(FILE.encode(), dry_run=True, shuffle=3)
    found = list_findings(CALLER, import_id, None, 1000, None).items
    assert sorted((each.code, each.line) for each in found) == [
        ("BATES_GAP", 3),
        ("BATES_OVERLAP_CASE", 2),
        ("DATE_BEFORE_1970", 3),
        ("DATE_FUTURE", 4),
        ("NAME_SIMILAR", 3),
        ("PARENT_CYCLE", 4),
        ("PARENT_CYCLE", 5),
        ("PARENT_MISSING", 3),
    ]
    assert {each.severity for each in found} == {"warning"}
    (gap,) = list_findings(CALLER, import_id, "BATES_GAP", 10, None).items
    assert (gap.column, gap.control_number) == ("Bates Begin", "F-2")
    assert "ABC000005" in gap.message


def test_names_have_the_weight_that_their_equality_has(other: Connection) -> None:
    """The check compares names by weight, the import by the column's collation."""
    names = [
        "a",
        "A",
        "á",
        "a ",
        "a\u00a0",
        "ß",
        "ss",
        "ｓｓ",
        "x\u200d",
        "x",
        "ﬁ",
        "fi",
        "é",
        "e\u0301",
        "\U0001f600",
        "\U0001f601",
    ]
    pairs = [(a, b) for a in names for b in names]
    weight = (
        "TRIM(TRAILING WEIGHT_STRING(CONVERT(' ' USING utf8mb4) COLLATE utf8mb4_unicode_520_ci) FROM WEIGHT_STRING({}))"
    )
    column = "CONVERT({} USING utf8mb4) COLLATE utf8mb4_unicode_520_ci"
    for a, b in pairs:
        left, right = column.format(":a"), column.format(":b")
        statement = text(f"SELECT {left} = {right}, {weight.format(left)} = {weight.format(right)}")
        equal, same_weight = other.execute(statement, {"a": a, "b": b}).one()
        assert equal == same_weight, (a, b)
