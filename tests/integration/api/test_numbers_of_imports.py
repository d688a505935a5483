"""What a command says of an import besides its state: Bates numbers, new names, what can correct it."""

from __future__ import annotations

from tests.support.api.client import Client
from tests.support.application.driver import World

ADA, BOB = Client(), Client(tenant="other", user="bob")
NUMBERED = """\
Control Number,Bates Begin,Bates End,Custodian,Tags
A-1,AB9,AB10,Ann,Hot
A-2,AB1,AB3,Bob,
,AB99,AB99,,
A-3,AB11,,Ann,Cold
A-4,,,,
"""
WIDER = NUMBERED + "A-5,AA100000,AA100001,Ann,\n"


def imported(world: World, text: str) -> int:
    """An import of Ada's tenant, with its reports."""
    import_id = world.run(text.encode())
    world.report(import_id)
    world.query("UPDATE imports SET tenant_id = 'acme' WHERE id = :i", i=import_id)
    world.query("UPDATE cases SET tenant_id = 'acme' WHERE tenant_id = 'tenant'")
    return import_id


def test_bates_numbers_are_compared_by_prefix_and_number(world: World) -> None:
    import_id = imported(world, NUMBERED)
    assert ADA.get(f"/imports/{import_id}/bates").json == {"first": "AB1", "last": "AB11"}
    assert BOB.get(f"/imports/{import_id}/bates").status == 404


def test_of_several_prefixes_the_first_and_the_last_count(world: World) -> None:
    import_id = imported(world, WIDER)
    assert ADA.get(f"/imports/{import_id}/bates").json == {"first": "AA100000", "last": "AB11"}


def test_the_numbers_of_a_file_do_not_depend_on_which_import_created_its_documents(world: World) -> None:
    first = imported(world, NUMBERED)
    place = world.query("SELECT case_id, sha256 FROM imports WHERE id = :i", i=first)[0]
    world.query(
        "INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status,"
        " sha256) VALUES (:key, 'acme', :case, 'b', 'k', 1, 'f', 'ada', 'completed', :hash)",
        key=b"\2" * 32,
        case=place.case_id,
        hash=place.sha256,
    )
    ((again,),) = world.query("SELECT MAX(id) FROM imports")
    assert ADA.get(f"/imports/{again}/bates").json == {"first": "AB1", "last": "AB11"}
    world.query("UPDATE imports SET sha256 = :hash WHERE id = :i", hash=b"\3" * 32, i=again)
    assert ADA.get(f"/imports/{again}/bates").json == {"first": None, "last": None}


def test_an_import_says_what_it_created_and_what_can_correct_it(world: World) -> None:
    import_id = imported(world, NUMBERED)
    details = ADA.get(f"/imports/{import_id}").json
    assert [details[name] for name in ("custodiansCreated", "tagsCreated", "correctableAs")] == [2, 2, import_id]
    world.query("UPDATE imports SET corrects_import_id = 99 WHERE id = :i", i=import_id)
    assert ADA.get(f"/imports/{import_id}").json["correctableAs"] == 99


def test_the_announcement_has_the_time_of_the_import(world: World) -> None:
    made = ADA.post("/imports", {"case": "Case", "fileName": "a.dat", "size": 3})
    assert made.json["startedAt"] == ADA.get(f"/imports/{made.json['id']}").json["startedAt"]
