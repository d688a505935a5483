"""Tags and custodians are listed with their documents, in both directions and within the wall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core.contracts.queries import CustodiansQuery, NamesQuery
from core.errors import NotFoundError
from shell.exhibits.commands import add_custodians, add_taggings
from shell.exhibits.named_lists import list_custodians, list_tags
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by, sorts, tagging
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.database.server_status import statements
from tests.support.exhibits.stored_cases import Cases

LIMITED = replace(CALLER, cases=frozenset({"Case"}))


def hold(cases: Cases) -> None:
    """Three exhibits of a case, and one of each of two others."""
    first, second, third = (cases.exhibit(f"A-{number}") for number in range(3))
    done(add_custodians, CALLER, first, ["Ada Lovelace", "Grace Hopper"])
    done(add_custodians, CALLER, second, ["ada lovelace"])
    done(add_taggings, CALLER, tagging([first, second, third], "Hot", "Privileged"))
    done(add_taggings, CALLER, tagging([first], "Hot\\Really Hot"))
    done(add_custodians, CALLER, cases.exhibit("B-1", "Secret"), ["Ada Lovelace", "Adam"])
    foreign = replace(CALLER, tenant_id="other")
    done(add_custodians, foreign, cases.exhibit("C-1", "Case", tenant="other"), ["Ada Foreign"])


def test_each_name_has_the_number_of_its_documents(cases: Cases) -> None:
    hold(cases)
    tags = list_tags(CALLER, NamesQuery(case="Case", count=True))
    expected = [("Hot", 3), ("Hot\\Really Hot", 1), ("Privileged", 3)]
    assert [(each.name, each.documents) for each in tags.items] == expected
    assert tags.total == 3
    case_id = cases.case("Case")
    custodians = list_custodians(CALLER, CustodiansQuery.model_validate({"caseId": case_id, "count": True}))
    found = [(each.name, each.documents, each.case, each.case_id) for each in custodians.items]
    assert found == [("Ada Lovelace", 2, "Case", case_id), ("Grace Hopper", 1, "Case", case_id)]
    assert custodians.total == 2
    done(add_custodians, CALLER, cases.exhibit("A-4"), ["Nobody Else"])
    cases.database.query("DELETE FROM custodian_exhibits WHERE custodian_id = (SELECT MAX(id) FROM custodians)")
    assert list_custodians(CALLER, CustodiansQuery(case="Case", search="else")).items[0].documents == 0


@pytest.mark.parametrize(
    ("search", "expected"), [("REALLY h", ["Hot\\Really Hot"]), ("hot\\", ["Hot\\Really Hot"]), ("%", [])]
)
def test_tags_are_found_by_words(cases: Cases, search: str, expected: list[str]) -> None:
    hold(cases)
    assert [each.name for each in list_tags(CALLER, NamesQuery(case="Case", search=search)).items] == expected


def test_custodians_are_found_in_all_cases_of_the_caller(cases: Cases) -> None:
    hold(cases)
    query = CustodiansQuery(search="ada", count=True)
    found = list_custodians(CALLER, query)
    assert [(each.name, each.case) for each in found.items] == [
        ("Ada Lovelace", "Case"),
        ("Ada Lovelace", "Secret"),
        ("Adam", "Secret"),
    ]
    assert found.total == 3
    limited = list_custodians(LIMITED, query)
    assert [each.case for each in limited.items] == ["Case"]
    assert limited.total == 1
    for chosen in ({"case": "Secret"}, {"caseId": cases.case("Secret")}):
        with pytest.raises(NotFoundError):
            list_custodians(LIMITED, CustodiansQuery(**chosen))
        with pytest.raises(NotFoundError):
            list_tags(LIMITED, NamesQuery(**chosen))


def test_names_come_in_both_directions(cases: Cases) -> None:
    hold(cases)
    calls: list[Callable[..., Any]] = [
        lambda **page: list_custodians(CALLER, CustodiansQuery(case="Case", **page)),
        lambda **page: list_custodians(CALLER, CustodiansQuery(search="a", **page)),
        lambda **page: list_tags(CALLER, NamesQuery(case="Case", **page)),
    ]
    for read in calls:
        whole = [each.id for each in read().items]
        assert [each.id for each in read(order="desc").items] == whole[::-1]
        page = read(limit=1)
        there = [page.items[0].id]
        while page.next:
            page = read(limit=1, after=page.next)
            there.append(page.items[0].id)
        back = [page.items[0].id]
        while page.prev:
            page = read(limit=1, before=page.prev)
            back.append(page.items[0].id)
        assert there == whole
        assert back == whole[::-1]


@pytest.mark.parametrize("query", [{}, {"case": "A", "caseId": 1}, {"case": "A", "search": "  "}])
def test_a_case_is_named_once(query: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"case|words"):
        CustodiansQuery(**query)
    with pytest.raises(ValueError, match=r"case|words"):
        NamesQuery(**query)


def test_names_are_read_off_the_index_with_the_same_few_statements(cases: Cases, world: World) -> None:
    exhibit = cases.exhibit("A-1")
    done(add_custodians, CALLER, exhibit, ["Ada 0"])
    done(add_taggings, CALLER, tagging([exhibit], "Tag 0"))
    queries: list[Callable[[], Any]] = [
        lambda: list_custodians(CALLER, CustodiansQuery(case="Case")),
        lambda: list_tags(CALLER, NamesQuery(case="Case", search="tag")),
        lambda: list_custodians(CALLER, CustodiansQuery(search="ada")),
    ]
    before = [statements(world, read) for read in queries]
    done(add_custodians, CALLER, exhibit, [f"Ada {number}" for number in range(50)])
    done(add_taggings, CALLER, tagging([exhibit], *(f"Tag {number}" for number in range(50))))
    cases.database.query("ANALYZE TABLE custodians, tags, custodian_exhibits, taggings, cases")
    assert [statements(world, read) for read in queries] == before
    for read, index in zip(queries, ("uq_custodians_name", "uq_tags_name"), strict=False):
        plan = plan_of(cases, *next(each for each in sent_by(read) if "ORDER BY" in each[0]))
        assert index in plan
        assert not sorts(plan)
