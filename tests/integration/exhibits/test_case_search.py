"""Cases are found by words, by their last import, by id and by similar names; walls hold in each of these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest

from core.caller import Caller
from core.case_names import UnknownCaseError
from core.contracts.cases import CasePage
from core.contracts.queries import CasesQuery, SimilarQuery
from core.errors import InvalidInputError, NotFoundError
from core.pagination import encode_cursor
from shell.db.session import session
from shell.exhibits.case_list import get_case, list_cases
from shell.exhibits.similar_cases import find_similar_cases, require_known_case
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by, sorts
from tests.support.exhibits.stored_cases import Cases

LIMITED = replace(CALLER, cases=frozenset({"Smith v. Jones", "Other"}))
BY_IMPORT: Literal["-lastImportAt"] = "-lastImportAt"


def find(caller: Caller = CALLER, **query: Any) -> list[str]:
    """The names of the first page."""
    return [each.name for each in list_cases(caller, CasesQuery(**query)).items]


def put_import(cases: Cases, case: str, started_at: str) -> None:
    """An import of the case that began then."""
    cases.database.query(
        "INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status, "
        "started_at) VALUES (UNHEX(SHA2(UUID(), 256)), 'tenant', :case, 'b', 'k', 1, 'f', 'u', 'completed', :at)",
        case=cases.case(case),
        at=started_at,
    )


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("jones smi", ["Smith v. Jones"]),
        ("JONES", ["Jonés & Co", "Smith v. Jones"]),
        ("jonés", ["Jonés & Co", "Smith v. Jones"]),
        ("  mith  ", ["Smith v. Jones"]),
        ("smith acme", []),
        ("100%", ["100% Fruit"]),
        ("_", ["A_B"]),
        ("\\", ["C\\D"]),
        ("👍", ["👍 Inc"]),
    ],
)
def test_a_search_finds_all_words_anywhere(cases: Cases, search: str, expected: list[str]) -> None:
    for name in ("Smith v. Jones", "Jonés & Co", "100% Fruit", "1000 Fruits", "A_B", "AxB", "C\\D", "👍 Inc"):
        cases.case(name)
    cases.case("Smith v. Jones II", tenant="other")
    assert find(search=search) == expected
    assert list_cases(CALLER, CasesQuery(search=search, count=True)).total == len(expected)


def test_a_search_stays_within_the_wall(cases: Cases) -> None:
    for name in ("Smith v. Jones", "Smith v. Jonas", "Secret Jones"):
        cases.case(name)
    assert find(LIMITED, search="jon") == ["Smith v. Jones"]
    assert find(LIMITED, sort=BY_IMPORT) == ["Smith v. Jones"]
    assert list_cases(LIMITED, CasesQuery(count=True)).total == 1
    found = find_similar_cases(LIMITED, SimilarQuery(name="Smith v. Jone"))
    assert [each.name for each in found.similar] == ["Smith v. Jones"]
    hidden = find_similar_cases(LIMITED, SimilarQuery(name="Secret Jones"))
    assert (hidden.exact, hidden.similar) == (None, [])
    with session() as reading, pytest.raises(UnknownCaseError) as refused:
        require_known_case(reading, LIMITED, "Smith v. Jonas")
    assert [name for _, name in refused.value.similar] == ["Smith v. Jones"]


def test_a_case_is_found_by_its_id_within_the_wall(cases: Cases) -> None:
    own, other, foreign = cases.case("Smith v. Jones"), cases.case("Secret"), cases.case("Case", tenant="other")
    assert get_case(LIMITED, own).name == "Smith v. Jones"
    assert get_case(CALLER, other).name == "Secret"
    for caller, case_id in ((LIMITED, other), (CALLER, foreign), (CALLER, 2**53 - 1)):
        with pytest.raises(NotFoundError, match="no case with this id"):
            get_case(caller, case_id)


def test_cases_come_by_their_last_import_in_both_directions(cases: Cases) -> None:
    for name, day in (("A", 3), ("B", 1), ("C", 3), ("D", 2), ("B", 9)):
        put_import(cases, name, f"2026-01-0{day}")
    for name in ("E", "F"):
        cases.case(name)
    expected = ["B", "C", "A", "D", "F", "E"]
    for limit in range(1, 7):
        for order, names in (("asc", expected), ("desc", expected[::-1])):
            there, back = walk(sort=BY_IMPORT, order=order, limit=limit)
            assert [name for page in there for name in page] == names
            assert back == there[::-1]


def walk(**query: Any) -> tuple[list[list[str]], list[list[str]]]:
    """The names of each page to the end of the list, and of each page on the way back from the last one."""
    page = list_cases(CALLER, CasesQuery(**query))
    there, pages = [_names(page)], [page]
    while page.next:
        page = list_cases(CALLER, CasesQuery(**query, after=page.next))
        there.append(_names(page))
        pages.append(page)
    back = [_names(page)]
    while page.prev:
        page = list_cases(CALLER, CasesQuery(**query, before=page.prev))
        back.append(_names(page))
    return there, back


def _names(page: CasePage) -> list[str]:
    return [each.name for each in page.items]


def test_a_cursor_of_another_order_is_refused(cases: Cases) -> None:
    cases.case("A")
    for cursor in (encode_cursor("A"), encode_cursor(1)):
        with pytest.raises(InvalidInputError):
            list_cases(CALLER, CasesQuery(sort=BY_IMPORT, after=cursor))
    with pytest.raises(InvalidInputError):
        list_cases(CALLER, CasesQuery(before=encode_cursor(1, 2)))
    with pytest.raises(ValueError, match="not both"):
        CasesQuery(after="a", before="b")


def test_similar_names_have_their_cases(cases: Cases) -> None:
    exact = cases.case("Smith v. Jones")
    put_import(cases, "Smith v Jones", "2026-01-01")
    cases.case("Smith v. Jones", tenant="other")
    cases.case("Quite another matter")
    found = find_similar_cases(CALLER, SimilarQuery(name="Smith v. Jones"))
    assert found.exact is not None
    assert found.exact.id == exact
    assert [(each.name, each.imports) for each in found.similar] == [("Smith v Jones", 1)]
    missing = find_similar_cases(CALLER, SimilarQuery(name="\u202eNothing 👍"))
    assert (missing.exact, missing.similar) == (None, [])


def test_a_page_of_names_is_read_in_the_order_of_the_index(cases: Cases) -> None:
    for number in range(300):
        cases.case(f"Case {number}")
    cases.database.query("ANALYZE TABLE cases, imports")
    for query in (CasesQuery(search="9"), CasesQuery(after=encode_cursor("Case 2")), CasesQuery(order="desc")):
        [statement] = [each for each in sent_by(lambda q=query: list_cases(CALLER, q)) if "ORDER BY" in each[0]]  # type: ignore[misc]
        plan = plan_of(cases, *statement)
        assert "uq_cases_tenant_name" in plan
        assert not sorts(plan)
    by_import = sent_by(lambda: list_cases(CALLER, CasesQuery(sort=BY_IMPORT)))
    plan = plan_of(cases, *next(each for each in by_import if "timestampdiff" in each[0]))
    assert "ix_imports_case_started" in plan, "one probe for each case"
    assert sorts(plan), "two numbers of each case are sorted, as `_read_by_import` says"
