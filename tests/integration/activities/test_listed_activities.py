"""Activities are listed newest first, in pages without gaps, and only to callers whom they concern."""

from __future__ import annotations

from typing import Any

import pytest

from core.caller import Caller
from core.contracts.queries import ActivityQuery
from shell.activities import queries
from shell.activity_log import Act, ActKind, record_act, record_own_act
from shell.db.session import session
from shell.utils.user_names import store_user_name
from tests.support.api.client import TOKENS, Client, gateway
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case
from tests.torture.access.calls import ApiRequest, send_through

ADA = Client("acme", "ada")


@pytest.fixture
def cases(world: World) -> dict[str, int]:
    """Two cases of a tenant, and one of another, with activities of two users and of the application."""
    found = {name: get_or_create_case(world, name, "acme") for name in ("One", "Two")}
    theirs = get_or_create_case(world, "One", "other")
    for at, (tenant, user, case_id, kind, number) in enumerate(
        [
            ("acme", "ada", found["One"], ActKind.IMPORT_CREATED, 7),
            ("acme", "bob", found["Two"], ActKind.IMPORT_CREATED, 8),
            ("acme", None, found["One"], ActKind.IMPORT_COMPLETED, 7),
            ("acme", "ada", None, ActKind.DEVICE_LABELLED, 100),
            ("other", "eve", theirs, ActKind.IMPORT_CREATED, 9),
            ("acme", "ada", found["Two"], ActKind.IMPORT_RUN, 8),
        ]
    ):
        with session() as transaction:
            act = Act(kind, number, case_id, {"rows": at})
            if user is None:
                record_own_act(transaction, tenant, act)
            else:
                record_act(transaction, Caller(tenant, user), act)
        world.query("UPDATE activities SET at = :at ORDER BY id DESC LIMIT 1", at=f"2026-11-21 10:00:0{at}")
    return found


def rows_of(client: Client, query: str = "") -> list[int]:
    """What is listed, by the numbers that the summaries have."""
    reply = client.get(f"/activities{query}")
    assert reply.status == 200, reply
    return [each["summary"]["rows"] for each in reply.json["items"]]


def test_a_tenant_sees_its_own_newest_first(cases: dict[str, int]) -> None:
    store_user_name(Caller("acme", "ada", user_name="Ada Lovelace"))
    assert rows_of(ADA) == [5, 3, 2, 1, 0]
    names = [each["userName"] for each in ADA.get("/activities").json["items"]]
    assert names == ["Ada Lovelace", "Ada Lovelace", None, None, "Ada Lovelace"]
    assert rows_of(Client("other", "eve")) == [4]
    newest, *_, oldest = ADA.get("/activities").json["items"]
    assert {name: newest[name] for name in newest if name != "id"} == {
        "at": "2026-11-21T10:00:05Z",
        "userId": "ada",
        "userName": "Ada Lovelace",
        "action": "import.run",
        "objectType": "import",
        "objectId": 8,
        "caseId": cases["Two"],
        "case": "Two",
        "summary": {"rows": 5},
    }
    assert oldest["id"] < newest["id"]


FILTERS: list[tuple[str, list[int]]] = [
    ("?case=One", [2, 0]),
    ("?user=ada", [5, 3, 0]),
    ("?object=import:7", [2, 0]),
    ("?object=device:100", [3]),
    ("?object=tagging_job:7", []),
    ("?action=import.created", [1, 0]),
    ("?from=2026-11-21T10:00:02Z", [5, 3, 2]),
    ("?case=Two&user=ada&action=import.run&object=import:8&from=2026-11-21T10:00:05Z", [5]),
    ("?user=absent", []),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS)
def test_all_filters_must_hold(cases: dict[str, int], query: str, expected: list[int]) -> None:
    assert rows_of(ADA, query) == expected
    sign = "&" if query else "?"
    paged, after = list[int](), ""
    while True:
        reply = ADA.get(f"/activities{query}{sign}limit=1{after}")
        paged += [each["summary"]["rows"] for each in reply.json["items"]]
        if reply.json["next"] is None:
            break
        after = f"&after={reply.json['next']}"
    assert paged == expected


def test_a_case_can_be_named_by_its_id_and_one_of_others_is_not_found(cases: dict[str, int]) -> None:
    assert rows_of(ADA, f"?caseId={cases['Two']}") == [5, 1]
    assert Client("other", "eve").get(f"/activities?caseId={cases['Two']}").status == 404
    assert ADA.get("/activities?case=Three").status == 404


def limited(cases: list[str], path: str = "") -> Any:
    token = TOKENS.issue("acme", "ada", cases=cases)
    values = {f"query:{name}": value for name, _, value in (each.partition("=") for each in path.split("&") if each)}
    return send_through(gateway(), ApiRequest("GET /activities", values), [f"Bearer {token}"])


def test_a_caller_limited_to_cases_sees_theirs_alone(cases: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def seen() -> list[int]:
        return [each["summary"]["rows"] for each in limited(["One"]).json["items"]]

    assert seen() == [2, 0]
    assert limited(["One"], "case=Two").status == 404
    assert limited(["One"], f"caseId={cases['Two']}").status == 404
    assert limited([]).json["items"] == []
    monkeypatch.setattr(queries, "build_wall", lambda _caller: [])
    assert seen() == [5, 3, 2, 1, 0], "the negative control"


def test_activities_of_one_instant_are_on_one_page_each(world: World, cases: dict[str, int]) -> None:
    world.query("UPDATE activities SET at = '2026-11-21 10:00:00'")
    caller, found, after = Caller("acme", "ada"), list[int](), None
    while True:
        page = queries.list_activities(caller, ActivityQuery(limit=2, after=after))
        found += [each.id for each in page.items]
        after = page.next
        if after is None:
            break
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found) == 5


@pytest.mark.parametrize(
    "query",
    [
        "?object=import",
        "?object=import:0",
        "?object=import:x",
        "?after=x",
        "?after=WzEsMl0",
        "?from=yesterday",
        "?to=x",
    ],
)
def test_what_is_no_filter_is_refused(world: World, query: str) -> None:
    assert ADA.get(f"/activities{query}").status == 400


PLANS = [
    ({}, "ix_activities_tenant"),
    ({"case_id": 1}, "ix_activities_case"),
    ({"user": "ada"}, "ix_activities_user"),
    ({"action": "import.run"}, "ix_activities_action"),
    ({"object": "import:7"}, "ix_activities_object"),
]


@pytest.mark.parametrize(("filters", "index"), PLANS, ids=lambda each: str(each))
def test_each_list_reads_an_index_in_its_order(
    world: World, cases: dict[str, int], filters: dict[str, Any], index: str
) -> None:
    values = {"case_id": None, "user": None, "action": None, "object": None, **filters}
    conditions = {"case_id": "case_id = 1", "user": "user_id = 'ada'", "action": "action = 'import.run'"}
    conditions["object"] = "object_type = 'import' AND object_id = 7"
    where = " AND ".join(["tenant_id = 'acme'", *(conditions[name] for name, value in values.items() if value)])
    assert queries._choose_index(ActivityQuery.model_construct(**values)) == index
    [plan] = world.query(f"EXPLAIN FORMAT=TRADITIONAL SELECT * FROM activities FORCE INDEX ({index}) WHERE {where} "
                         "ORDER BY at DESC, id DESC LIMIT 10")  # fmt: skip
    assert plan.key == index
    assert "filesort" not in (plan.Extra or "")
