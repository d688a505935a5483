"""Lists of exhibits and custodians: every row once, only the tenant's, and straight off the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.contracts.exhibit_lists import ExhibitPage
from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.queries import CustodiansQuery
from core.errors import InvalidInputError, NotFoundError
from core.pagination import encode_cursor
from shell.exhibits.cases import NO_SUCH_CASE
from shell.exhibits.commands import add_custodians, add_taggings
from shell.exhibits.listing import list_exhibits
from shell.exhibits.named_lists import list_custodians
from shell.exhibits.queries import get_exhibit
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by, sorts, tagging
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.database.server_status import statements
from tests.support.exhibits.stored_cases import Cases


def page(limit: int = 500, after: str | None = None, case: str = "Case", **filters: Any) -> ExhibitPage:
    named = {name: [filters.pop(name)] for name in ("custodian", "tag") if filters.get(name) is not None}
    kept = {name: value for name, value in filters.items() if value is not None}
    given: dict[str, Any] = {"case": case, "limit": limit, "after": after, **kept, **named}
    return list_exhibits(CALLER, ExhibitQuery.model_construct(**given))


def numbers(**filters: Any) -> list[str]:
    return [each.control_number for each in page(**filters).items]


def walked(
    limit: int, between: Callable[[str], object] = lambda _last: None, custodian: str | None = None
) -> Iterator[str]:
    """The control numbers of all pages; `between` two of them it gets the last one."""
    after: str | None = None
    while True:
        got = page(limit, after, custodian=custodian)
        yield from (each.control_number for each in got.items)
        if got.next is None:
            return
        assert got.next != after, "it goes on for ever"
        after = got.next
        between(got.items[-1].control_number)


def held_by(cases: Cases, exhibit_id: int, *names: str) -> None:
    done(add_custodians, CALLER, exhibit_id, list(names))


def test_pages_hold_every_exhibit_once_in_byte_order(cases: Cases) -> None:
    cases.case("Case")
    assert page() == ExhibitPage(items=[], next=None)
    for number in ("B", "a", "A-10", "é", "A-9", "A"):
        cases.exhibit(number)
    for limit in (1, 3, 5, 6, 500):
        assert list(walked(limit)) == ["A", "A-10", "A-9", "B", "a", "é"]


def growing(cases: Cases) -> Callable[[str], object]:
    """Others who add an exhibit before and one after where the reader is."""

    def add(last: str) -> None:
        cases.exhibit(f"A-{last}")
        cases.exhibit(f"{last}-after")

    return add


def test_what_others_add_meanwhile_hides_nothing_and_repeats_nothing(cases: Cases) -> None:
    cases.exhibits(20)
    seen = list(walked(3, growing(cases)))
    assert [number for number in seen if "after" not in number] == [f"Case-{n:06}" for n in range(20)]
    assert len(seen) == len(set(seen))


def test_pages_by_offset_repeat_what_an_insert_pushes_back(cases: Cases) -> None:
    cases.exhibits(20)
    seen: list[str] = []
    for offset in range(0, 9, 3):
        naive = "SELECT control_number FROM exhibits ORDER BY control_number LIMIT 3 OFFSET :offset"
        seen += [row[0] for row in cases.database.query(naive, offset=offset)]
        growing(cases)(seen[-1])
    assert len(seen) > len(set(seen))


def test_filters_narrow_the_list_together(cases: Cases) -> None:
    one, two, three = (cases.exhibit(number) for number in ("A-1", "A-2", "A-3"))
    held_by(cases, one, "Ann Lee")
    held_by(cases, two, "Ann Lee", "Bob")
    done(add_taggings, CALLER, tagging([two, three], r"Hot\Really Hot"))
    assert numbers(custodian="Ann Lee") == list(walked(1, custodian="Ann Lee")) == ["A-1", "A-2"]
    assert numbers(tag=r"Hot\Really Hot") == ["A-2", "A-3"]
    assert numbers(custodian="Ann Lee", tag=r"Hot\Really Hot") == ["A-2"]
    assert numbers(control_number="A-3", tag=r"Hot\Really Hot") == ["A-3"]
    assert numbers(control_number="a-3") == numbers(custodian="Carl") == numbers(tag="Cold") == []


def test_the_database_decides_which_names_are_equal(cases: Cases) -> None:
    held_by(cases, cases.exhibit("?"), "Åsa Lind", "??")
    for spelling in ("Åsa Lind", "ASA LIND", "asa lind  ", "Ása Lind"):
        assert numbers(custodian=spelling) == ["?"]
    for name in ("👍", "x" * 600, "\ud800", "?"):
        assert numbers(custodian=name) == numbers(tag=name) == [], "what no column can hold matches nothing"
        assert numbers(control_number=name) == (["?"] if name == "?" else [])


def test_only_a_case_of_the_tenant_is_listed(cases: Cases) -> None:
    cases.exhibit("A-1", "Case 2", tenant="other")
    cases.exhibit("A-1", tenant="other")
    cases.exhibit("A-2")
    assert numbers() == ["A-2"]
    for name in ("Case 2", "case", "\ud800", "x" * 300):
        with pytest.raises(NotFoundError, match=NO_SUCH_CASE):
            page(5, case=name)
        with pytest.raises(NotFoundError, match=NO_SUCH_CASE):
            list_custodians(CALLER, CustodiansQuery.model_construct(case=name))


def test_a_cursor_of_another_list_is_refused(cases: Cases) -> None:
    cases.exhibit("A-1")
    for after in ("x", encode_cursor(5), encode_cursor("👍")):
        with pytest.raises(InvalidInputError, match="after: "):
            page(5, after)
        with pytest.raises(InvalidInputError, match="after: "):
            list_custodians(CALLER, CustodiansQuery(case="Case", limit=5, after=after))


def test_custodians_come_in_the_order_of_their_collation(cases: Cases) -> None:
    names = ["Zoë", "anna", "Åsa", "Bob", "Änne Zu", "carl"]
    held_by(cases, cases.exhibit("A-1"), *names)
    held_by(cases, cases.exhibit("A-1", "Case 2"), "Elsewhere")
    seen, after = [], None
    while True:
        got = list_custodians(CALLER, CustodiansQuery(case="Case", limit=2, after=after))
        seen += [each.name for each in got.items]
        after = got.next
        if after is None:
            break
    assert seen == ["anna", "Änne Zu", "Åsa", "Bob", "carl", "Zoë"]


def test_a_page_is_read_off_the_index_and_not_sorted(cases: Cases) -> None:
    cases.exhibits(50)
    for after in (None, encode_cursor("Case-000010")):
        sent = sent_by(lambda after=after: page(500, after))  # type: ignore[misc]
        plan = plan_of(cases, *next(each for each in sent if "ORDER BY exhibits.control_number" in each[0]))
        assert "uq_exhibits_control_number" in plan
        assert not sorts(plan)
    naive = "SELECT * FROM exhibits ORDER BY title LIMIT 10"
    assert sorts(plan_of(cases, naive)), "a page in another order would be sorted"


def test_statements_do_not_grow_with_what_is_read(cases: Cases, world: World) -> None:
    exhibit, *_ = cases.exhibits(60)
    held_by(cases, exhibit, "Custodian")
    calls: list[Callable[[], object]] = [
        lambda: page(1),
        lambda: list_custodians(CALLER, CustodiansQuery(case="Case", limit=1)),
    ]
    calls.append(lambda: get_exhibit(CALLER, exhibit))
    before = [statements(world, ask) for ask in calls]
    held_by(cases, exhibit, *(f"Custodian {number}" for number in range(50)))
    done(add_taggings, CALLER, tagging([exhibit], *(f"Tag {number}" for number in range(50))))
    calls[:2] = [lambda: page(50), lambda: list_custodians(CALLER, CustodiansQuery(case="Case", limit=50))]
    assert [statements(world, ask) for ask in calls] == before
    assert len(get_exhibit(CALLER, exhibit).tags) == 50
