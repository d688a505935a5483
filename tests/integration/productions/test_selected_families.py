"""Documents are selected by their control numbers, and with their families."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.productions.runs import CALLER, execute
from tests.support.productions.written_volumes import exhibit

ME = Client(CALLER.tenant_id, CALLER.user_id)


@pytest.fixture
def family(world: World) -> list[int]:
    """An e-mail with an attachment, which has one too, and another e-mail with one."""
    parents = {"A": None, "B": "A", "C": "B", "D": None, "E": "D"}
    return [exhibit(world, number, parent_control_number=parent) for number, parent in parents.items()]


def request(**fields: Any) -> Reply:
    return ME.post("/productions", {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, **fields})


def produced(**fields: Any) -> list[str]:
    """The control numbers of a production, in the order of its Bates numbers."""
    reply = request(**fields)
    assert reply.status == 202, reply
    execute(reply.json["id"])
    listed = ME.get(f"/productions/{reply.json['id']}/documents").json["items"]
    return [each["controlNumber"] for each in listed]


def test_control_numbers_select_documents_and_unknown_ones_are_named(family: list[int]) -> None:
    assert produced(controlNumbers=["D", "B", "D"]) == ["B", "D"]
    reply = request(controlNumbers=["a", "B", "X"])
    assert (reply.status, reply.problem) == (404, "not-found")
    assert reply.json["detail"] == "The case has no documents with these control numbers: a, X."


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"controlNumbers": ["B"]}, ["A", "B", "C"]),
        ({"controlNumbers": ["C", "E"]}, ["A", "B", "C", "D", "E"]),
        ({"query": {"controlNumber": "D"}}, ["D", "E"]),
        ({"query": {"parent": "A"}}, ["A", "B", "C"]),
    ],
)
def test_families_are_produced_whole(family: list[int], fields: dict[str, Any], expected: list[str]) -> None:
    assert produced(**fields, includeFamilies=True) == expected


def test_the_check_counts_what_would_be_produced(family: list[int]) -> None:
    body = {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, "exhibitIds": [family[2]]}
    alone = ME.post("/productions/check", body).json
    whole = ME.post("/productions/check", {**body, "includeFamilies": True}).json
    assert [(each["documents"], each["families"]) for each in (alone, whole)] == [(1, 0), (3, 1)]
    assert [[found["code"] for found in each["findings"]] for each in (alone, whole)] == [["INCOMPLETE_FAMILY"], []]


def test_one_way_to_select_is_required(family: list[int]) -> None:
    for fields in ({}, {"query": {}, "controlNumbers": ["A"]}):
        reply = request(**fields)
        assert (reply.status, reply.problem) == (400, "invalid-request")


def test_a_family_without_a_selected_document_is_nothing_to_produce(family: list[int]) -> None:
    reply = request(query={"controlNumber": "X"}, includeFamilies=True)
    assert reply.status in (400, 422), reply
