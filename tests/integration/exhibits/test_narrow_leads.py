"""What leads to the matches of a list restricts them, too, however the keys of a page are read."""

from __future__ import annotations

import json

import pytest

from shell.db.session import session
from shell.exhibits import matches, search
from shell.productions import selection
from tests.integration.exhibits.test_search import found
from tests.support.exhibits.stored_cases import Cases

ODD = ["A-1", "A-3", "A-5", "A-7", "A-9"]


@pytest.fixture(autouse=True)
def narrow(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten documents of two imports, in a case that is searched in parts."""
    for number in range(10):
        cases.exhibit(f"A-{number}", import_id=7 if number % 2 else 8)
    monkeypatch.setattr(matches, "FEW", 1)
    monkeypatch.setattr(search, "MAX_SEARCHED", 6)


def test_a_page_that_is_read_in_order_has_the_matches_alone() -> None:
    assert found(importId="7") == ODD


def test_a_production_has_as_many_documents_as_its_filters_select(cases: Cases) -> None:
    stored, case = json.dumps({"filters": {"importId": 7}}), cases.case("Case")
    with session() as reading:
        pages = list(selection._iterate_pages(reading, case, stored))
        assert selection.count_selected(reading, case, stored) == len(ODD)
    assert [row.control_number for page in pages for row in page] == ODD


def test_two_filters_of_one_kind_both_hold(cases: Cases) -> None:
    cases.exhibit("C-1", parent_control_number="A-1")
    cases.exhibit("C-2", parent_control_number="A-2")
    assert found(parent="A-1", family="A-1") == ["C-1"]
    assert found(parent="A-1", family="A-2") == []
