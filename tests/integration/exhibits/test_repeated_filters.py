"""Filters that are repeated in a query, as API Gateway hands them on: names with commas stay whole."""

from __future__ import annotations

from urllib.parse import urlencode

from core.contracts.exhibit_queries import COMMA
from shell.exhibits.commands import add_custodians, add_taggings
from tests.integration.exhibits.exhibit_requests import CALLER, tagging
from tests.support.api.client import Client
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases


def listed(*filters: tuple[str, str]) -> list[str]:
    query = urlencode([("case", "Case"), *filters])
    reply = Client("tenant").get(f"/exhibits?{query}")
    assert reply.status == 200, reply
    return [each["controlNumber"] for each in reply.json["items"]]


def test_each_value_of_a_repeated_filter_must_hold(cases: Cases) -> None:
    one, two = cases.exhibit("A-1"), cases.exhibit("A-2")
    done(add_custodians, CALLER, one, ["Lovelace, Ada", "Lovelace"])
    done(add_custodians, CALLER, two, ["Lovelace, Ada"])
    done(add_taggings, CALLER, tagging([one, two], "Hot, very"))
    assert listed(("custodian", "Lovelace, Ada")) == ["A-1", "A-2"]
    assert listed(("custodian", "Lovelace, Ada"), ("custodian", "Lovelace")) == ["A-1"]
    assert listed(("tag", "Hot, very"), ("tag", "Hot, very"), ("custodian", "Lovelace")) == ["A-1"]
    assert listed(("tag", "Hot")) == []


def test_other_parameters_are_sent_once(cases: Cases) -> None:
    cases.exhibit("A-1")
    for query in ("limit=1&limit=2", f"tag={COMMA}", "&".join(["tag=a"] * 2 + ["tag=" + "b" * 501])):
        assert Client("tenant").get(f"/exhibits?case=Case&{query}").status == 400
