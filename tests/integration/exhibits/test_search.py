"""Filters that read the exhibits: what they match, together and in pages, and how a large case is searched for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from core.contracts.exhibit_lists import ExhibitPage
from core.contracts.exhibit_queries import ExhibitQuery
from shell.exhibits import match_keys, matches, search
from shell.exhibits.commands import add_custodians, add_taggings
from shell.exhibits.listing import list_exhibits
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by, tagging
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases, put_import


def found(*, limit: Any = 2, **filters: Any) -> list[str]:
    """The control numbers of all pages."""
    numbers: list[str] = []
    after: dict[str, str] = {}
    while True:
        query = ExhibitQuery.model_validate({"case": "Case", "limit": limit, **filters, **after})
        page = list_exhibits(CALLER, query)
        numbers += [each.control_number for each in page.items]
        if page.next is None:
            return numbers
        after = {"after": page.next}


def test_days_are_inclusive_and_end_at_midnight(cases: Cases) -> None:
    for number, at in enumerate(["2019-12-30T23:59:59.999999", "2019-12-31T00:00:00", "2019-12-31T23:59:59.999999"]):
        cases.exhibit(f"A-{number}", document_date=datetime.fromisoformat(at))
    cases.exhibit("A-3", document_date=datetime(2020, 1, 1))
    cases.exhibit("A-4")
    assert found(dateFrom="2019-12-31", dateTo="2019-12-31") == ["A-1", "A-2"]
    assert found(dateFrom="2019-12-31") == ["A-1", "A-2", "A-3"]
    assert found(dateTo="2019-12-30") == ["A-0"]


RANGES = {
    "1": ("ABC0001", "ABC0010"),
    "2": ("ABC11", None),
    "3": ("ABC00000012", "ABC20"),
    "4": ("abc0005", "abc0006"),
    "5": ("ABC-0005", "ABC-0006"),
    "6": ("ABC5.1", "ABC6"),
    "7": ("ABC0030", "OTHER0099"),
    "8": ("ABC0040", "ABC0039"),
    "9": (None, None),
    "A": ("ABC", "ABC9"),
    "B": ("7", "8"),
    "C": ("A_%01", "A_%02"),
    "D": ("ABC9999999999999999999", None),
}


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("ABC5", "ABC000005", "1"),
        ("ABC10", "ABC11", "12"),
        ("ABC11", "ABC30", "237"),
        ("ABC21", "ABC29", ""),
        ("ABC31", "ABC99", "8"),
        ("ABC41", None, ""),
        ("ABC13", None, "378"),
        (None, "ABC11", "12"),
        ("abc5", "abc5", "4"),
        ("ABC-6", None, "5"),
        ("8", None, "B"),
        ("A_%1", "A_%1", "C"),
        ("AX%1", "AX%1", ""),
        ("𝔖1", None, ""),
    ],
)
def test_a_bates_range_matches_every_document_that_it_meets(
    cases: Cases, first: str | None, last: str | None, expected: str
) -> None:
    for number, (begin, end) in RANGES.items():
        cases.exhibit(number, bates_begin=begin, bates_end=end)
    bounds = {"batesFrom": first, "batesTo": last}
    assert "".join(found(**{name: bound for name, bound in bounds.items() if bound})) == expected


def test_a_long_range_in_a_large_case(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found where few ranges begin before the end of the filter, and with any other filter that leads."""
    long = cases.exhibit("A", bates_begin="X1", bates_end="X90")
    others = [cases.exhibit(f"B{number}", bates_begin=f"X{number}") for number in range(2, 6)]
    done(add_taggings, CALLER, tagging([long, *others[:1]], "Hot"))
    monkeypatch.setattr(matches, "LOOKBACK", 10)
    monkeypatch.setattr(search, "MAX_SEARCHED", 4)
    monkeypatch.setattr(matches, "FEW_IN_RANGE", 1)
    assert found(batesFrom="X80", batesTo="X80") == [], "as documented"
    assert found(batesFrom="X80", batesTo="X80", tag="Hot") == ["A"]
    monkeypatch.setattr(matches, "FEW_IN_RANGE", 4)
    assert found(batesFrom="X4", batesTo="X4") == ["A", "B4"]
    assert found(batesFrom="X80", batesTo="X80") == []


def test_paths_words_and_imports_narrow_the_list_together(cases: Cases) -> None:
    cases.exhibit("A-1", native_path="N/1.msg", title="Board meeting, 100% of Zoë's budget")
    cases.exhibit("A-2", text_path="T/2.txt", title="BUDGET for the board_", import_id=7)
    cases.exhibit("A-3", native_path="", text_path="T/3.txt", import_id=7)
    assert found(hasNative="true") == ["A-1"]
    assert found(hasNative="false") == ["A-2", "A-3"]
    assert found(hasText="false") == ["A-1"]
    assert found(title="board Budget") == ["A-1", "A-2"]
    assert found(title="100%") == found(title="zoe's") == ["A-1"]
    assert found(title="1_0") == found(title="👍 budget") == []
    assert found(title="d_") == ["A-2"]
    assert found(importId="7") == ["A-2", "A-3"]
    assert found(importId="7", hasText="true", title="budget") == ["A-2"]


def test_a_large_case_is_searched_in_parts_and_no_filter_is_refused(
    cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_, last = cases.exhibits(6)
    put_import(cases.database, cases.case("Case"), 1)
    done(add_custodians, CALLER, last, ["Ann"])
    done(add_taggings, CALLER, tagging([first, second, last], "Hot"))
    monkeypatch.setattr(search, "MAX_SEARCHED", 4)
    monkeypatch.setattr(matches, "FEW", 0)
    whole = [f"Case-{number:06}" for number in range(6)]
    assert found(tag="Hot", custodian="Ann", hasNative="false") == whole[5:]
    assert found(controlNumber=whole[3], hasNative="false") == whole[3:4]
    assert found(tag="Hot", hasNative="false") == [*whole[:2], whole[5]]
    assert found(withoutTag="Hot", hasNative="false") == whole[2:5]
    assert found(limit=3, importId="1", hasNative="false") == found(hasNative="false") == whole
    assert found(hasNative="true") == []
    assert found(custodian="Carl", hasNative="false") == found(custodian="👍", hasNative="false") == []


def test_a_page_says_in_how_many_exhibits_it_searched(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    cases.exhibits(9)
    monkeypatch.setattr(search, "MAX_SEARCHED", 12)
    monkeypatch.setattr(match_keys, "NEAR", 1)

    def read(**values: Any) -> ExhibitPage:
        return list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", "count": "true", **values}))

    short = read(hasNative="true")
    assert (short.items, short.next is None, short.searched) == ([], False, 2), "files cost as much as six links"
    assert (short.total, short.total_is_lower_bound) == (0, True)
    full = read(hasNative="false", limit=1)
    assert (len(full.items), full.searched, full.total, full.total_is_lower_bound) == (1, None, 2, True)
    last = read(hasNative="true", controlNumber="Case-000003")
    assert (last.items, last.next, last.searched, last.total_is_lower_bound) == ([], None, None, False)


def test_the_links_of_a_large_case_are_read_first(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = cases.exhibits(400)
    done(add_taggings, CALLER, tagging([first, second], "Hot"))
    monkeypatch.setattr(search, "MAX_SEARCHED", 300)
    [*_, (statement, values)] = sent_by(lambda: found(tag="Hot", title="x"))
    plan = plan_of(cases, statement, values)
    assert "ix_taggings_tag" in plan
    assert plan.index('"table_name": "taggings"') < plan.index('"table_name": "exhibits"')
