"""What a production's request and first step make of its prefix: refused at once, cancelled later, or numbered."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import CancelledError
from shell.productions.steps import PRODUCTION, reserve
from shell.utils.document_properties import serialize_properties
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, matter, put_exhibits
from tests.support.productions.runs import ask, cancelled, documents_of, execute, steps_of, take


def post(client: Client, **fields: Any) -> tuple[int, str, str]:
    """Status, problem and detail of a request."""
    body = {"case": "Smith v. Jones", "volume": "V", "prefix": "SMITH", "digits": 7, "query": {}, **fields}
    reply = client.post("/productions", body)
    return reply.status, reply.problem, reply.json.get("detail", "")


def test_what_a_prefix_cannot_give_is_refused_at_once(world: World) -> None:
    ours = matter(world, 12)
    status, problem, detail = post(ours.client, digits=1)
    assert (status, problem) == (409, "sequence-exhausted")
    assert "requested 12, available 9" in detail
    assert "requested 12, available 10" in post(ours.client, digits=2, startAt=90)[2]
    assert "requested 12, available 0" in post(ours.client, digits=2, startAt=100)[2]
    assert post(ours.client, digits=2, startAt=88)[0] == 202


def test_a_prefix_that_is_used_in_another_way_is_refused_at_once(world: World) -> None:
    ours = matter(world, 2)
    assert post(ours.client, startAt=41)[0] == 202
    execute(world.query("SELECT MAX(id) FROM productions")[0][0])
    for fields in ({"digits": 6}, {"prefix": "Smith"}, {"startAt": 41}, {"startAt": 1}):
        status, problem, detail = post(ours.client, **fields)
        assert (status, problem) == (409, "wrong-state"), fields
        assert ("SMITH with 7 digits" in detail) or ("next number of the prefix is 43" in detail)
    assert post(ours.client)[0] == 202


def pages(world: World, **said: str | None) -> None:
    """Exhibits of the case, by their control numbers, and what their load file said of their pages."""
    for number, count in said.items():
        properties = {} if count is None else {"document_properties": serialize_properties({"Page Count": count})}
        put_exhibits(world, get_or_create_case(world, "Case", "tenant"), [number], **properties)


def test_each_page_has_a_number_where_pages_are_counted(world: World) -> None:
    pages(world, A="3", B=None, C=" 12 ", D="", E="1")
    production = ask(numbering="page")
    execute(production)
    assert [span[:2] for span in documents_of(world, production)] == [(1, 3), (4, 4), (5, 16), (17, 17), (18, 18)]


def test_a_page_count_that_is_none_cancels_the_production_and_names_the_document(world: World) -> None:
    pages(world, A="3", B="many", C="1")
    reason = cancelled(world, production := ask(numbering="page"))
    assert "The page count of exhibit" in reason
    assert "many" not in reason
    assert (steps_of(world, production)["reserve"], documents_of(world, production)) == ("compensated", [])
    assert take(get_or_create_case(world, "Case", "tenant"), 1) == (1, 1), "nothing was given out"


def test_pages_that_a_prefix_has_no_numbers_for_cancel_the_production(world: World) -> None:
    pages(world, A="5", B="5")
    reason = cancelled(world, ask(numbering="page", digits=1))
    assert reason.startswith("Sequence exhausted: requested 10, available 9")
    assert world.query("SELECT COUNT(*) FROM bates_sequences")[0][0] == 0


def test_of_two_that_begin_a_prefix_differently_the_second_is_cancelled(world: World) -> None:
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    first, second = ask(startAt=10), ask(digits=6)
    assert execute(first)["status"] == "confirmed"
    assert "7 digits" in cancelled(world, second)


def test_a_failed_reservation_leaves_a_sequence_without_constraints(world: World) -> None:
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    given_up = ask(startAt=7)
    world.query("UPDATE productions SET status = 'cancelling' WHERE id = :p", p=given_up)
    with pytest.raises(CancelledError):
        reserve({PRODUCTION: given_up})
    assert world.query("SELECT next_number FROM bates_sequences") == [(7,)], "committed before"
    execute(second := ask(digits=6))
    assert documents_of(world, second) == [(1, 1, "produced")]
