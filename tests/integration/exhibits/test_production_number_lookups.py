"""Lookups of claimed Bates ranges: what they find, with which index, and how long that takes among 200,000."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.bates_numbers import BatesNumber, parse_bates_number, read_span
from core.contracts.exhibit_queries import ExhibitQuery
from shell.db.session import session
from shell.exhibits.listing import list_exhibits
from shell.exhibits.numbers import NewClaim, delete_claims, find_claimants, list_claimants, write_claims
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases

MANY = 200_000
# What may differ and still look alike: padding, case, a blank at the end, a sign of LIKE.
PREFIXES = ("SM", "sm", "SM ", "SM_", "", "ABCÄ", "A-0001.")


class Claim(NamedTuple):
    """A claim as the reference keeps it."""

    exhibit_id: int
    import_id: int
    line_no: int
    begin: str
    end: str | None


def has_number(claim: Claim, prefix: str, lower: int, upper: int) -> bool:
    """Whether a range has a number of the prefix from one to another, read again without the product's code."""
    texts = (claim.begin, claim.end or claim.begin)
    parts = [(text.rstrip("0123456789"), text) for text in texts]
    if parts[0][0] != prefix or not claim.begin[len(prefix) :]:
        return False
    first = int(claim.begin[len(prefix) :])
    last = int(texts[1][len(prefix) :]) if parts[1][0] == prefix and texts[1][len(prefix) :] else first
    return first <= upper and max(first, last) >= lower


@st.composite
def stated(draw: st.DrawFn) -> tuple[str, str | None]:
    """The texts of a range: of one prefix or of two, of any width, the wrong way round, or without a number."""
    prefix, other = draw(st.sampled_from(PREFIXES)), draw(st.sampled_from(PREFIXES))
    first, length = draw(st.integers(0, 70)), draw(st.sampled_from((0, 0, 1, 2, 3, 4, 7, 8, 9, 40, -2)))
    width = draw(st.sampled_from((1, 3, 6)))
    begin = draw(st.sampled_from((f"{prefix}{first:0{width}}", f"{prefix}{first:0{width}}", f"{prefix}none")))
    end = f"{draw(st.sampled_from((prefix, prefix, other)))}{max(0, first + length):0{width}}"
    return begin, draw(st.sampled_from((end, end, None)))


@settings(
    deadline=None,
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_claims_and_their_undo_are_those_of_a_dictionary(cases: Cases, data: st.DataObject) -> None:
    case, other = cases.case("Case"), cases.case("Other")
    cases.database.query("DELETE FROM production_numbers")
    kept: dict[tuple[int, int], Claim] = {}
    for import_id in (7, 8, 9):
        ranges = data.draw(st.lists(stated(), max_size=12))
        claims = [Claim(line % 5 + 1, import_id, line, *range_) for line, range_ in enumerate(ranges)]
        new = [
            NewClaim(each.exhibit_id, each.line_no, each.begin, each.end, import_id, each.line_no) for each in claims
        ]
        # What is written again is there once; another case has the same.
        for _ in range(2):
            done(write_claims, case, new)
        done(write_claims, other, [each._replace(exhibit_id=each.exhibit_id + 100) for each in new])
        kept |= {(import_id, each.line_no): each for each in claims}
    undone, first, last = data.draw(st.tuples(st.sampled_from((7, 8, 9)), st.integers(0, 12), st.integers(0, 12)))
    done(delete_claims, undone, first, last, kept=[3])
    gone = {key for key, each in kept.items() if key[0] == undone and first <= key[1] <= last and each.exhibit_id != 3}
    left = [each for key, each in kept.items() if key not in gone]
    with session() as reading:
        for prefix in PREFIXES:
            for lower, upper in ((0, 0), (5, 5), (6, 12), (0, 100), (69, 10**18 - 1)):
                found = list_claimants(reading, case, BatesNumber(prefix, lower), BatesNumber(prefix, upper))
                assert found == {each.exhibit_id for each in left if has_number(each, prefix, lower, upper)}, prefix
        begins = {each.begin for each in kept.values()} | {"SM1", "sm001"}
        found_by_key = find_claimants(reading, case, begins)
    expected = {begin: {each.exhibit_id for each in left if each.begin == begin} for begin in begins}
    assert found_by_key == {begin: ids for begin, ids in expected.items() if ids}


def test_a_span_is_its_numbers() -> None:
    assert read_span("SM0007", "SM0010") == (b"SM", 2, 7, 10)
    assert read_span("SM0007", "SM10") == (b"SM", 2, 7, 10)
    assert read_span("SM0007", "sm0010") == read_span("SM7", None) == read_span("SM7", "SM6") == (b"SM", 0, 7, 7)
    assert read_span("SM", "SM1") == (b"SM", None, None, None)
    # A count of 2 to the power of n has the level n, and one more number the next one.
    assert [read_span("A0", f"A{count - 1}").level for count in (1, 2, 3, 4, 5, 8, 9)] == [0, 1, 2, 2, 3, 3, 4]


def fill(cases: Cases, count: int) -> tuple[int, list[tuple[int, int]]]:
    """Claims of one prefix: most of a few numbers, some of thousands; their case and ranges, by exhibit from 1."""
    chosen, case = random.Random(7), cases.case("Case")
    ranges = []
    begin = 1
    for index in range(count):
        length = 1 + chosen.randrange(20) if index % 1000 else chosen.randrange(5_000)
        ranges.append((begin, begin + length))
        begin += 1 + chosen.randrange(length + 2)
    claims = (NewClaim(n, 0, f"SM{a:09}", f"SM{b:09}", 1, n) for n, (a, b) in enumerate(ranges, start=1))
    done(write_claims, case, claims)
    cases.database.query("ANALYZE TABLE production_numbers")
    return case, ranges


def lookup(case: int, number: int) -> set[int]:
    """The exhibits that claim a number."""
    with session() as reading:
        return list_claimants(reading, case, BatesNumber("SM", number), BatesNumber("SM", number))


def test_a_lookup_reads_the_index_of_levels_alone(cases: Cases) -> None:
    case, ranges = fill(cases, 5_000)
    number = ranges[2_500][0]
    [(statement, values)] = [each for each in sent_by(lambda: lookup(case, number)) if "production_numbers" in each[0]]
    plan = plan_of(cases, statement, values)
    # As MariaDB and MySQL to version 8 write it, or as later ones do.
    assert '"ix_production_numbers_range"' in plan
    assert '"access_type": "range"' in plan or "index_range_scan" in plan
    assert '"using_index": true' in plan or '"covering": true' in plan
    assert lookup(case, number) == {n for n, (a, b) in enumerate(ranges, start=1) if a <= number <= b}


@pytest.mark.slow
def test_lookups_among_many_claims_are_exact_and_read_few_of_them(cases: Cases) -> None:
    case, ranges = fill(cases, MANY)
    chosen = random.Random(8)
    last = ranges[-1][1]
    seconds = []
    for number in (chosen.randrange(last) for _ in range(50)):
        began = time.perf_counter()
        found = lookup(case, number)
        seconds.append(time.perf_counter() - began)
        assert found == {n for n, (a, b) in enumerate(ranges, start=1) if a <= number <= b}
    print(f"median of {len(seconds)} lookups: {sorted(seconds)[25] * 1000:.2f} ms")
    read = read_rows(cases, case, last - 10)
    assert read < 2_000, "a scan of the prefix would read all of them"


def read_rows(cases: Cases, case: int, number: int) -> int:
    """How many entries of indexes the server reads for a lookup."""
    with session() as reading:
        reading.connection().exec_driver_sql("FLUSH STATUS")
        list_claimants(reading, case, BatesNumber("SM", number), BatesNumber("SM", number))
        rows: Sequence[Any] = reading.connection().exec_driver_sql("SHOW SESSION STATUS LIKE 'Handler_read%%'").all()
    return sum(int(value) for _, value in rows)


def test_a_search_finds_fields_and_claims_of_the_case_only(cases: Cases) -> None:
    one, two = cases.exhibit("A-1", bates_begin="SM001", bates_end="SM003"), cases.exhibit("A-2")
    stranger = cases.exhibit("B-1", case="Other")
    done(
        write_claims, cases.case("Case"), [NewClaim(two, 0, "SM0002", "SM9", 1, 2), NewClaim(one, 0, "D 1", None, 1, 1)]
    )
    done(write_claims, cases.case("Other"), [NewClaim(stranger, 0, "SM2", None, 1, 2)])

    def found(first: str, last: str) -> list[str]:
        query = ExhibitQuery.model_validate({"case": "Case", "batesFrom": first, "batesTo": last})
        return [each.control_number for each in list_exhibits(CALLER, query).items]

    assert found("SM2", "SM2") == ["A-1", "A-2"]
    assert found("SM4", "SM5") == ["A-2"]
    assert found("D 1", "D 1") == ["A-1"]
    assert found("D1", "D1") == []
    assert parse_bates_number("D 1").prefix == "D "
