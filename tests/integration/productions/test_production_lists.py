"""Lists of productions and of their documents: complete, in order, page by page, and cheap however much there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from shell.productions.queries import get_production, list_documents, list_productions
from tests.support.api import Client
from tests.support.cases import get_or_create_case, matter, put_exhibits
from tests.support.productions import CALLER, ask, execute, put_documents
from tests.support.watching import statements
from tests.support.world import World

ME = Client(CALLER.tenant_id, CALLER.user_id)


def walked(path: str, limit: int) -> list[list[Any]]:
    """All pages of a list."""
    pages, after = [], ""
    while True:
        page = ME.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{after}").json
        pages.append(page["items"])
        if page["next"] is None:
            return pages
        after = f"&after={page['next']}"


def ids(pages: list[list[Any]]) -> list[int]:
    return [item["id"] for page in pages for item in page]


def test_productions_are_listed_newest_first_page_by_page(world: World) -> None:
    for case in ("Case", "Other"):
        put_exhibits(world, get_or_create_case(world, case, "tenant"), ["A"])
    made = [(case, ask(case)) for case in ("Case", "Other", "Case", "Case", "Other")]
    matter(world, 1, tenant="other")
    newest = [production for _, production in reversed(made)]
    assert [ids(walked("/productions", limit)) for limit in (1, 2, 5, 100)] == [newest] * 4
    assert [len(page) for page in walked("/productions", 2)] == [2, 2, 1]
    ours = [production for case, production in reversed(made) if case == "Case"]
    assert ids(walked("/productions?case=Case", 2)) == ours
    assert ME.get("/productions?case=Nobody").status == 404
    for cursor in ("x", "WzFd", "WyJhIl0"):
        assert ME.get(f"/productions?case=Case&after={cursor}").status == (200 if cursor == "WzFd" else 400)


def test_a_list_says_how_far_each_production_is(world: World) -> None:
    put_documents(world, ["A", "B"])
    done, waiting = ask(), ask()
    execute(done)
    first, second = ME.get("/productions").json["items"]
    assert (first["id"], first["status"], first["documents"], first["firstBates"]) == (waiting, "requested", None, None)
    assert (second["id"], second["status"], second["documents"]) == (done, "confirmed", 2)
    assert (second["firstBates"], second["lastBates"], second["case"]) == ("ACME0000001", "ACME0000002", "Case")


def test_documents_are_listed_with_their_numbers_page_by_page(world: World) -> None:
    numbers = [f"D-{number}" for number in range(7)]
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), numbers)
    first, second = ask(), ask(volume="VOL001")
    execute(first)
    execute(second)
    for production, start in ((first, 1), (second, 8)):
        pages = walked(f"/productions/{production}/documents", 3)
        assert [len(page) for page in pages] == [3, 3, 1]
        items = [item for page in pages for item in page]
        assert [item["controlNumber"] for item in items] == numbers
        assert [item["batesBegin"] for item in items] == [f"ACME{start + place:07}" for place in range(7)]
        assert {item["status"] for item in items} == {"produced"}
    assert [item["position"] for item in items] == list(range(7, 14)), "of one volume, behind the first"


def test_rows_of_a_cancelled_production_are_void(world: World) -> None:
    put_documents(world, ["A", "B"])
    [missing] = put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["C"], native_path="not/there.doc")
    production = ask()
    execute(production)
    shown = ME.get(f"/productions/{production}").json
    assert (shown["status"], shown["failedStep"], shown["documents"]) == ("cancelled", "copy", 3)
    assert shown["reason"] == f"files of exhibits {missing} cannot be copied: 1 not in the bucket"
    items = ME.get(f"/productions/{production}/documents").json["items"]
    assert [(item["batesBegin"], item["status"]) for item in items] == [(f"ACME000000{n}", "void") for n in (1, 2, 3)]
    assert ids(walked("/productions", 1)) == [production]


def test_a_production_without_numbers_has_no_documents(world: World) -> None:
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    path = f"/productions/{ask()}/documents"
    assert ME.get(path).json == {"items": [], "next": None}
    assert ME.get(f"{path}?after=x").status == 400


OTHERS = """
    INSERT INTO production_documents
    (production_id, exhibit_id, destination_id, position, sequence_id, first_number, last_number, status, files)
    SELECT :production, given.n, :destination, given.n + 1000, :sequence, given.n, given.n, 'produced', '{}' FROM
    JSON_TABLE(:numbers, '$[*]' COLUMNS (n BIGINT PATH '$')) AS given
"""
_PRODUCTIONS = """
    INSERT INTO productions
    (tenant_id, case_id, user_id, volume, prefix, digits, numbering, selection, properties, status, is_open)
    SELECT :tenant, :case_id, 'u', 'V', 'P', 7, 'document', '{}', '[]', 'confirmed', 0 FROM
    JSON_TABLE(:numbers, '$[*]' COLUMNS (n BIGINT PATH '$')) AS given
"""
LARGE, TENANTS = 100_000, 1_000


def put_others(world: World, own: int) -> None:
    """A hundred thousand documents of others, half of them of its prefix and volume, and six thousand productions."""
    [(sequence, destination)] = world.query(
        "SELECT sequence_id, MIN(destination_id) FROM production_documents WHERE production_id = :p GROUP BY 1", p=own
    )
    for offset, of_own in ((0, True), (0, False)):
        numbers = json.dumps(list(range(offset + 1, offset + LARGE // 2 + 1)))
        place = {"sequence": sequence, "destination": destination} if of_own else {"sequence": 0, "destination": 0}
        world.query(OTHERS, production=own + 1_000 + of_own, numbers=numbers, **place)
    for tenant, count in (("tenant", TENANTS), ("other", 5 * TENANTS)):
        numbers = json.dumps(list(range(count)))
        world.query(_PRODUCTIONS, tenant=tenant, case_id=get_or_create_case(world, "Another", tenant), numbers=numbers)
    world.query("ANALYZE TABLE production_documents, productions, production_steps")


def read_rows(world: World, work: Callable[[], Any]) -> int:
    """How many rows the server reads for the work."""

    def handled() -> int:
        found = world.query("SHOW SESSION STATUS LIKE 'Handler_read%'")
        return sum(int(value) for _, value in found)

    before = handled()
    work()
    return handled() - before


def test_reading_costs_the_same_whatever_else_there_is(world: World) -> None:
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), [f"D-{number:03}" for number in range(200)])
    own = ask(startAt=LARGE)
    execute(own)
    asked: dict[str, Callable[[], Any]] = {
        "get": partial(get_production, CALLER, own),
        "list": partial(list_productions, CALLER, None, 10, None),
        "of a case": partial(list_productions, CALLER, "Case", 10, None),
        "documents": partial(list_documents, CALLER, own, 10, None),
    }
    before = {name: (statements(world, work), read_rows(world, work)) for name, work in asked.items()}
    put_others(world, own)
    after = {name: (statements(world, work), read_rows(world, work)) for name, work in asked.items()}
    print(f"statements and rows read, alone and among {LARGE} others: {before} {after}")
    assert {name: count for name, (count, _) in after.items()} == {name: count for name, (count, _) in before.items()}
    assert after["list"][1] < 3 * TENANTS, "its own are sorted, and nobody else's are met"
    assert all(after[name][1] < 50 for name in asked if name != "list")
