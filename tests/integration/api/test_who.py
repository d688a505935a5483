"""Who the caller is, and the names of users beside their ids."""

from __future__ import annotations

import time
from dataclasses import replace
from urllib.parse import quote

import pytest

from core.contracts.common import MAX_BATCH, MAX_PAGE
from core.contracts.imports.announcements import PART_BYTES, SINGLE_PUT_BYTES
from shell.settings import settings
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter

ADA = Client("acme", "3f0c", "Ada Lovelace")


def test_me_is_what_the_token_says_and_what_the_code_allows(world: World) -> None:
    me = ADA.get("/me").json
    assert (me["userId"], me["userName"], me["tenantId"], me["role"]) == ("3f0c", "Ada Lovelace", "acme", "admin")
    assert me["cases"] is None
    expires = time.mktime(time.strptime(me["tokenExpiresAt"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
    assert abs(expires - time.time() - 3600) < 300
    assert me["limits"] == {
        "maxFileBytes": settings().max_file_bytes,
        "singlePutBytes": SINGLE_PUT_BYTES,
        "partBytes": PART_BYTES,
        "maxPage": MAX_PAGE,
        "maxBatch": MAX_BATCH,
    }
    [(charset,)] = world.query(
        "SELECT character_set_name FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = 'custodians' AND column_name = 'name'"
    )
    assert me["charset"] == charset


def test_me_of_a_limited_caller_has_the_cases_of_the_token(world: World) -> None:
    limited = Client("acme", "grace", cases=("Smith v. Jones", "Acme"))
    assert limited.get("/me").json["cases"] == ["Acme", "Smith v. Jones"]
    assert limited.get("/me").json["userName"] is None


def test_a_change_stores_the_name_and_lists_have_it(world: World, acme: Matter) -> None:
    ada = replace(ADA, tenant=acme.client.tenant)
    case = quote(acme.name)
    [exhibit, *_] = ada.get(f"/exhibits?case={case}").json["items"]
    assert ada.get("/users?ids=3f0c").json["items"] == [], "nothing is written by a request that changes nothing"
    ada.patch(f"/exhibits/{exhibit['id']}", {"title": "New"}, exhibit["version"])
    ada.post("/imports", {"case": acme.name, "fileName": "a.dat"})
    ada.post("/volumes", {"case": acme.name, "name": "VOL001"})
    period = {"deviceId": 7, "begin": "2026-01-01T00:00:00Z", "end": None}
    assert ada.post("/custody-periods", [period]).status == 201
    ada.post("/profiles", {"name": "Acme", "options": {"delimiter": "comma"}})
    imported, volume = (ada.get(f"/{what}").json["items"][0] for what in ("imports", "volumes"))
    change, profile = ada.get("/custody-changes?deviceId=7").json["items"][0], ada.get("/profiles").json["items"][0]
    edited, _created = ada.get(f"/exhibits/{exhibit['id']}/changes").json["items"]
    named = [imported, ada.get(f"/imports/{imported['id']}").json, volume, change, edited]
    named.append(ada.get(f"/volumes/{volume['id']}").json)
    assert {(each["userId"], each["userName"]) for each in named} == {("3f0c", "Ada Lovelace")}
    assert (profile["createdByName"], profile["updatedByName"]) == ("Ada Lovelace", "Ada Lovelace")
    assert ada.get("/users?ids=3f0c,unknown").json["items"] == [{"userId": "3f0c", "name": "Ada Lovelace"}]


def test_the_name_is_that_of_the_last_token_and_of_one_tenant(world: World) -> None:
    for name in ("Ada Lovelace", "Ada King", "Ada King", None, "\u202e"):
        assert replace(ADA, name=name).post("/cases", {"name": f"Case {time.monotonic_ns()}"}).status == 201
    assert ADA.get("/users?ids=3f0c").json["items"] == [{"userId": "3f0c", "name": "Ada King"}]
    assert Client("other", "bob").get("/users?ids=3f0c").json["items"] == []


def test_a_name_is_written_only_when_it_changes(world: World) -> None:
    written: list[object] = []
    for name in ("Ada Lovelace", "Ada Lovelace", "Ada King"):
        replace(ADA, name=name).post("/cases", {"name": f"Case {time.monotonic_ns()}"})
        written += world.query("SELECT seen_at FROM users")
    assert written[0] == written[1] != written[2]


def test_users_are_closed_to_limited_callers(world: World) -> None:
    ADA.post("/cases", {"name": "Other"})
    limited = Client("acme", "grace", "Grace", cases=("Acme",))
    assert limited.get("/users?ids=3f0c").status == 403
    assert limited.post("/imports", {"case": "Acme", "fileName": "a.dat"}).status == 201
    assert limited.get("/imports").json["items"][0]["userName"] == "Grace"


@pytest.mark.parametrize("query", ["", "?ids=", "?ids=a,,b", f"?ids={'a,' * 100}a", f"?ids={'a' * 256}"])
def test_users_are_requested_by_a_few_ids(world: World, query: str) -> None:
    assert ADA.get(f"/users{query}").status == 400
