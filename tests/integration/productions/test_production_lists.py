"""Lists of productions and of their documents: complete, in order, page by page."""

from __future__ import annotations

from typing import Any

from tests.support.api import Client
from tests.support.cases import get_or_create_case, matter, put_exhibits
from tests.support.productions import CALLER, ask, execute, put_documents
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
    assert ME.get(f"/productions/{waiting}/documents").json == {"items": [], "next": None}
    assert ME.get(f"/productions/{waiting}/documents?after=x").status == 400


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
