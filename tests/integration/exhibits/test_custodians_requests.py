"""A custodian requested by name: the one that is there, or a new one, and one that stays."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.contracts.exhibits import NewCustodian
from shell.exhibits.custodians import add_custodian
from shell.imports.state.unused_names import delete_unused_names
from shell.tables.imports import Imports
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.api.client import Client, Reply
from tests.support.database.counted_database import barrier, done, outcome, replayed, together, transaction
from tests.support.exhibits.stored_cases import Cases

AN_IMPORT = 7


def request_custodian(name: str, case: str = "Case", tenant: str = "tenant", **headers: str) -> Reply:
    return Client(tenant).post("/custodians", {"case": case, "name": name}, **headers)


def given(name: str, case: str = "Case", tenant: str = "tenant") -> dict[str, Any]:
    """The answer to a valid request."""
    reply = request_custodian(name, case, tenant)
    assert reply.status == 200, reply
    return dict(reply.json)


def seen_by_an_import(cases: Cases, name: str) -> int:
    """A custodian that an import has added, and not linked to anything so far."""
    row = "INSERT INTO custodians (case_id, name, import_id, line_no) VALUES (:case, :name, :import, 3)"
    cases.database.query(row, case=cases.case("Case"), name=name, **{"import": AN_IMPORT})
    return int(cases.database.scalar("SELECT id FROM custodians WHERE name = :name", name=name))


def test_a_custodian_and_a_case_that_there_are_not_are_made(cases: Cases) -> None:
    made = given("Evidence room 2", "Smith v. Jones")
    assert made == {"id": made["id"], "name": "Evidence room 2"}
    listed = Client("tenant").get(f"/custodians?case={quote('Smith v. Jones')}")
    [custodian] = listed.json["items"]
    assert (custodian["id"], custodian["name"]) == (made["id"], made["name"])
    assert (listed.json["next"], listed.json["prev"]) == (None, None)
    assert cases.database.query("SELECT tenant_id, name FROM cases") == [("tenant", "Smith v. Jones")]


def test_one_that_is_there_is_given_in_its_own_spelling(cases: Cases) -> None:
    first = given("Åsa Lind")
    for spelling in ("Åsa Lind", "ASA LIND", "asa lind", "Ása Lind"):
        assert given(spelling) == first == {"id": first["id"], "name": "Åsa Lind"}
    assert cases.database.scalar("SELECT COUNT(*) FROM custodians") == 1


def test_another_case_and_another_tenants_case_have_their_own(cases: Cases) -> None:
    ids = {given(name, *where)["id"] for name, *where in (("Lab",), ("Lab", "Case 2"), ("Lab", "Case", "other"))}
    assert len(ids) == 3
    owners = cases.database.query("SELECT tenant_id, name FROM cases ORDER BY 1, 2")
    assert [tuple(row) for row in owners] == [("other", "Case"), ("tenant", "Case"), ("tenant", "Case 2")]


def test_a_name_that_cannot_be_stored_is_refused_and_makes_nothing(cases: Cases) -> None:
    names: list[tuple[Any, Any]] = [(name, "Case") for name in ("👍", "x" * 256, "", " Lab", "L\0b", None, 5)]
    names += [("Lab", case) for case in ("x" * 256, "", " Case", "Case/2", None)]
    for name, case in names:
        reply = request_custodian(name, case)
        assert (reply.status, reply.problem) == (400, "invalid-request"), (name, case)
    assert cases.database.query("SELECT name FROM cases UNION ALL SELECT name FROM custodians") == []


def test_two_who_ask_at_once_get_the_same_and_do_not_deadlock(counting: Cases, race_counts: int) -> None:
    counting.case("Case")
    before, rounds, meeting = counting.database.deadlocks(), 60 // race_counts, barrier(2)

    def ask(at: Engine) -> list[int]:
        ids = []
        for number in range(rounds):
            meeting.wait()
            # Of two rounds the first is about a new name, the second about one that is there.
            ids.append(replayed(at, add_custodian, CALLER, NewCustodian(case="Case", name=f"Lab {number // 2}")).id)
        return ids

    with counting.database.environments(2) as (one, two):
        left, right = together(lambda: ask(one), lambda: ask(two))
    assert left == right
    assert len(set(left)) == counting.database.scalar("SELECT COUNT(*) FROM custodians") == (rounds + 1) // 2
    assert counting.database.deadlocks() == before


def test_two_who_insert_first_and_look_then_deadlock(counting: Cases) -> None:
    seen_by_an_import(counting, "Lab")
    meeting, before = barrier(2), counting.database.deadlocks()
    insert = text("INSERT INTO custodians (case_id, name) VALUES (:case, 'Lab')")
    look = text("SELECT id FROM custodians WHERE case_id = :case AND name = 'Lab' FOR UPDATE")

    def naive(at: Engine) -> None:
        with transaction(at) as opened:
            case = {"case": opened.scalar(text("SELECT id FROM cases"))}
            with suppress(IntegrityError), opened.begin_nested():
                opened.execute(insert, case)
            meeting.wait()
            opened.execute(look, case)

    with counting.database.environments(2) as (one, two):
        together(outcome(lambda: naive(one)), outcome(lambda: naive(two)))
    assert counting.database.deadlocks() - before == 1


def test_one_who_was_requested_stays_when_the_import_that_saw_him_first_ends(cases: Cases) -> None:
    lab, linked, _ = (seen_by_an_import(cases, name) for name in ("Lab", "Linked", "Clerk"))
    link = "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) VALUES (:exhibit, :linked, 'u')"
    cases.database.query(link, exhibit=cases.exhibit("A-1"), linked=linked)
    assert (given("LAB"), given("Linked")["id"]) == ({"id": lab, "name": "Lab"}, linked)
    done(delete_unused_names, Imports(id=AN_IMPORT))
    kept = cases.database.query("SELECT id, import_id, line_no FROM custodians ORDER BY id")
    assert kept == [(lab, None, None), (linked, None, None)], "the clerk was not requested"


def test_one_who_was_requested_stays_when_the_links_of_the_import_go(cases: Cases) -> None:
    request, unrequested = (seen_by_an_import(cases, name) for name in ("Requested", "Unrequested"))
    exhibit = cases.exhibit("A-1")
    for custodian in (request, unrequested):
        link = "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) VALUES (:exhibit, :custodian, 'u')"
        cases.database.query(link, exhibit=exhibit, custodian=custodian)
    assert given("Requested")["id"] == request
    cases.database.query("DELETE FROM custodian_exhibits")
    done(delete_unused_names, Imports(id=AN_IMPORT))
    assert cases.database.query("SELECT name FROM custodians") == [("Requested",)]


def test_one_who_is_requested_while_that_import_ends_stays(counting: Cases) -> None:
    lab = seen_by_an_import(counting, "Lab")
    with counting.database.environments(2) as (one, two), Session(one) as asking:
        add_custodian(asking, CALLER, NewCustodian(case="Case", name="Lab"))

        def commit() -> None:
            counting.database.until_waiting(1)
            asking.commit()

        together(lambda: replayed(two, delete_unused_names, Imports(id=AN_IMPORT)), commit)
    assert counting.database.query("SELECT id FROM custodians") == [(lab,)]
