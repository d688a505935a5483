"""How the server finds a page of exhibits: by which index first, and without reading the case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.contracts.exhibit_queries import ExhibitQuery
from shell.exhibits import matches, search
from shell.exhibits.listing import list_exhibits
from tests.integration.exhibits.exhibit_requests import CALLER, plan_of, sent_by, sorts
from tests.support.exhibits.stored_cases import Cases, put_import

COUNT = 400
WHOLE = "uq_exhibits_control_number"


@pytest.fixture
def case(cases: Cases) -> Cases:
    """A case whose first twenty exhibits have what is searched for; other cases and imports have as many."""
    query = cases.database.query
    for number, name in enumerate(("Case", "Other")):
        ids = cases.exhibits(COUNT, name)
        [case_id] = query("SELECT id FROM cases WHERE name = :n", n=name)[0]
        query("INSERT INTO custodians (case_id, name) VALUES (:c, 'Ann')", c=case_id)
        query("INSERT INTO tags (case_id, name) VALUES (:c, 'Hot'), (:c, 'Cold')", c=case_id)
        few: dict[str, Any] = {"first": ids[0], "last": ids[19], "c": case_id}
        query(
            "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) SELECT e.id, c.id, 'u' FROM exhibits e "
            "JOIN custodians c ON c.case_id = :c WHERE e.id BETWEEN :first AND :last",
            **few,
        )
        query(
            "INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT e.id, t.id, 'u' FROM exhibits e "
            "JOIN tags t ON t.case_id = :c WHERE e.id BETWEEN :first AND :last",
            **few,
        )
        query(
            "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, import_id, line_no, changes) "
            "SELECT id, 2, 'overlaid', 'u', :i, 1, '{}' FROM exhibits WHERE id BETWEEN :first AND :last",
            i=20 + number,
            first=ids[0],
            last=ids[19],
        )
        for import_id in (10 + number, 20 + number):
            put_import(cases.database, case_id, import_id)
        created = "UPDATE exhibits SET import_id = :i WHERE id BETWEEN :first AND :last"
        query(created, i=10 + number, first=ids[0], last=ids[19])
        query("UPDATE exhibits SET bates_begin = CONCAT('SM', LPAD(id, 9, '0')) WHERE case_id = :c", c=case_id)
    query("ANALYZE TABLE exhibits, custodian_exhibits, taggings, exhibit_changes")
    return cases


def keys_read_by(filters: dict[str, Any]) -> tuple[str, Any]:
    """The statement that reads the keys of a page, with its values."""
    query = ExhibitQuery.model_validate({"case": "Case", "limit": 5, "from": "Case-000003", **filters})
    sent = sent_by(lambda: list_exhibits(CALLER, query))
    return next(each for each in sent if "ORDER BY exhibits.control_number" in each[0])


def places(plan: str, *texts: str) -> list[int]:
    """Where the texts are in the plan; all of them are."""
    assert all(each in plan for each in texts), plan
    return [plan.index(each) for each in texts]


def scanned(plan: Any) -> list[str]:
    """The tables, by their names or aliases, of which the plan reads every row."""
    if isinstance(plan, list):
        return [name for each in plan for name in scanned(each)]
    if not isinstance(plan, dict):
        return []
    name = str(plan.get("table_name", ""))
    is_table = name.startswith(("exhibit", "taggings", "custodian", "production"))
    own = [name] if is_table and plan.get("access_type") in ("all", "table") else []
    return own + [each for value in plan.values() for each in scanned(value)]


LEADS: dict[str, tuple[dict[str, Any], str]] = {
    "custodian": ({"custodian": "Ann", "title": "x"}, "ix_custodian_exhibits_custodian"),
    "tag": ({"tag": "Hot", "hasImages": "false"}, "ix_taggings_tag"),
    "two tags": ({"tag": ["Hot", "Cold"], "custodian": "Ann"}, "ix_"),
    "import": ({"importId": "10"}, "ix_exhibits_import"),
    "overlay": ({"changedByImport": "20"}, "ix_exhibit_changes_import"),
}


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("filters", LEADS)
def test_few_exhibits_are_found_by_their_own_index(case: Cases, filters: str, order: str) -> None:
    values, index = LEADS[filters]
    plan = plan_of(case, *keys_read_by({**values, "order": order}))
    assert WHOLE not in plan.replace("possible_keys", "") or f'"key": "{WHOLE}"' not in plan
    assert places(plan, index)
    assert not scanned(json.loads(plan))


def test_a_bates_range_of_a_large_case_is_found_by_the_index_of_begins(
    case: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_SEARCHED", 300)
    statement = "SELECT bates_begin FROM exhibits WHERE control_number = 'Case-000000'"
    first = str(case.database.query(statement)[0][0])
    plan = plan_of(case, *keys_read_by({"batesFrom": first, "batesTo": f"SM{int(first[2:]) + 20:09}"}))
    assert places(plan, "ix_exhibits_bates", "ix_production_numbers_range")


WALKS: tuple[dict[str, Any], ...] = (
    {},
    {"tag": "Hot"},
    {"tag": ["Hot", "Cold"], "custodian": "Ann"},
    {"tagTree": "Hot"},
    {"withoutTag": "Hot"},
    {"hasNative": "false"},
    {"importId": "10", "hasText": "false"},
)


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("filters", WALKS, ids=str)
def test_many_exhibits_are_found_in_the_order_of_the_list(
    case: Cases, filters: dict[str, Any], order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "FEW", 1)
    plan = plan_of(case, *keys_read_by({**filters, "order": order}))
    assert f'"key": "{WHOLE}"' in plan or f"using {WHOLE}" in plan
    assert not sorts(plan)


def test_a_page_after_a_place_reads_no_more_than_a_first_page(case: Cases) -> None:
    """As the server counts it, wherever the page begins and whichever way it is read."""

    def count_reads(**place: str) -> int:
        query = ExhibitQuery.model_validate({"case": "Case", "limit": 5, **place})
        statement = next(
            each
            for each in sent_by(lambda: list_exhibits(CALLER, query))
            if "ORDER BY exhibits.control_number" in each[0]
        )
        with case.database.admin.connect() as connection:
            connection.exec_driver_sql("FLUSH STATUS")
            connection.exec_driver_sql(*statement).all()
            rows = connection.exec_driver_sql("SHOW SESSION STATUS LIKE 'Handler_read%%'").all()
        return sum(int(row[1]) for row in rows)

    for place in ({}, {"from": "Case-000300"}, {"from": "Case-000300", "order": "desc"}):
        assert count_reads(**place) <= 12
