"""A case is named by its name or by its id, in every list that takes one; and is not created where that is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter, get_or_create_case
from tools.openapi import DOCUMENT

_PATHS = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
LISTS = [
    path
    for path, methods in _PATHS.items()
    if any(each["name"] == "case" for each in methods.get("get", {}).get("parameters", []))
]
NEEDED = {"/exhibits", "/exhibits/keys", "/tags", "/bates-prefixes"}
EMPTY = {"/productions", "/bates-prefixes"}


def test_every_list_of_a_case_takes_its_id() -> None:
    assert set(LISTS) == {
        *NEEDED,
        "/activities",
        "/imports",
        "/volumes",
        "/productions",
        "/exports",
        "/custodians",
        "/tagging-jobs",
    }
    for path in LISTS:
        assert "caseId" in {each["name"] for each in _PATHS[path]["get"]["parameters"]}


@pytest.mark.parametrize("path", LISTS)
def test_the_id_finds_what_the_name_finds(acme: Matter, path: str) -> None:
    client, name = acme.client, quote(acme.name)
    client.post("/imports", {"case": acme.name, "fileName": "a.dat"})
    client.post("/volumes", {"case": acme.name, "name": "VOL001"})
    client.post("/custodians", {"case": acme.name, "name": "Ada"})
    client.post("/exports", {"case": acme.name, "kind": "tags", "format": "csv"})
    client.post("/tagging-jobs", {"case": acme.name, "query": {}, "add": ["Cold"]})
    client.post("/taggings", {"exhibitIds": acme.exhibits, "tags": ["Hot"]})
    get_or_create_case(acme.world, "Other", acme.tenant)
    case_id = client.get(f"/cases/similar?name={name}").json["exact"]["id"]
    by_name, by_id = client.get(f"{path}?case={name}"), client.get(f"{path}?caseId={case_id}")
    assert by_name.status == by_id.status == 200
    assert by_name.json == by_id.json
    assert by_name.json["items"] or path in EMPTY
    assert client.get(f"{path}?case=Other").json["items"] == []
    limited = replace(client, cases=("Other",))
    for refused in (limited, Client("other")):
        answer = refused.get(f"{path}?caseId={case_id}")
        assert (answer.status, answer.problem) == (404, "not-found")
    assert client.get(f"/cases/{case_id}").json["name"] == acme.name
    assert limited.get(f"/cases/{case_id}").status == 404


@pytest.mark.parametrize("path", LISTS)
def test_a_list_takes_one_case_and_says_so(world: World, path: str) -> None:
    both = Client().get(f"{path}?case=Acme&caseId=1")
    assert both.status == 400
    assert "send case or caseId, not both" in json.dumps(both.json)
    neither = Client().get(path)
    assert neither.status == (400 if path in NEEDED or path == "/custodians" else 200)
    assert neither.status == 200 or "caseId" in json.dumps(neither.json)
    assert Client().get(f"{path}?caseId=%2B1").status == 400


@pytest.mark.parametrize(
    ("path", "body"), [("/imports", {"fileName": "a.dat"}), ("/volumes", {"name": "VOL001"})], ids=["import", "volume"]
)
def test_a_misspelt_case_is_not_created(world: World, path: str, body: dict[str, str]) -> None:
    client = Client()
    case_id = client.post("/cases", {"name": "Smith v. Jones"}).json["id"]
    client.post("/cases", {"name": "Smith v. Jonas"})
    sent = {**body, "case": "Smith v. Jone", "createCase": False}
    refused = client.post(path, sent)
    assert (refused.status, refused.problem) == (404, "not-found")
    assert {"id": case_id, "name": "Smith v. Jones"} in refused.json["similar"]
    limited = replace(client, cases=("Smith v. Jones", "Smith v. Jone"))
    assert limited.post(path, sent).json["similar"] == [{"id": case_id, "name": "Smith v. Jones"}]
    none = client.post(path, {**sent, "case": "Quite another"})
    assert (none.status, none.json["similar"]) == (404, [])
    assert world.query("SELECT COUNT(*) FROM cases") == [(2,)]
    assert world.query("SELECT (SELECT COUNT(*) FROM imports) + (SELECT COUNT(*) FROM volumes)") == [(0,)]
    assert client.post(path, {**sent, "case": "Smith v. Jones"}).status == 201
    assert client.post(path, {**sent, "createCase": True}).status == 201
    assert world.query("SELECT COUNT(*) FROM cases") == [(3,)]
