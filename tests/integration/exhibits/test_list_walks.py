"""Walks through the list of exhibits with any filters, to its end and back, compared with a list in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.contracts.exhibit_lists import ExhibitPage
from core.contracts.exhibit_queries import ExhibitQuery
from core.errors import FilterTooBroadError, InvalidInputError
from core.pagination import encode_cursor
from shell.exhibits import leads, match_keys, search
from shell.exhibits.listing import list_exhibits
from shell.zones.zone_map import build_zone
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.exhibits.stored_cases import Cases

COUNT = 60
OVERLAY = 9
CUSTODIANS, TAGS = ("Ann", "Lee, Bob"), ("Hot", "Cold", "Rare")


@dataclass
class Document:
    """An exhibit as the reference keeps it."""

    control_number: str
    bates: tuple[int, int] | None
    import_id: int
    parent: str | None
    title: str
    has_images: bool
    native_path: str | None
    overlaid: bool
    custodians: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)


def build_documents() -> list[Document]:
    """The same documents in each run; ids do not follow control numbers, nor do imports."""
    draw = random.Random(43)
    numbers = [f"{draw.choice(('A-', 'a', 'B', 'Bä', 'Z'))}{number}" for number in range(COUNT)]
    documents = []
    for position, number in enumerate(numbers):
        first = 10 * position
        parent = draw.choice(numbers[:position]) if position % 3 == 2 else None
        documents.append(
            Document(
                control_number=number,
                bates=(first, first + draw.choice((0, 3, 25))) if position % 4 else None,
                import_id=draw.choice((7, 7, 8)),
                parent=parent,
                title=draw.choice(("Minutes of May", "Plan")),
                has_images=draw.random() < 0.5,
                native_path=draw.choice(("N/1.msg", None)),
                overlaid=draw.random() < 0.2,
                custodians={each for each in CUSTODIANS if draw.random() < 0.4},
                tags={each for each, share in zip(TAGS, (0.6, 0.3, 0.05), strict=True) if draw.random() < share},
            )
        )
    draw.shuffle(documents)
    return documents


DOCUMENTS = build_documents()


def store(cases: Cases) -> None:
    """Put the documents into the database, once."""
    case = cases.case("Case")
    query = cases.database.query
    if query("SELECT 1 FROM exhibits LIMIT 1"):
        return
    for table, names in (("custodians", CUSTODIANS), ("tags", TAGS)):
        for name in names:
            query(f"INSERT INTO {table} (case_id, name) VALUES (:c, :n)", c=case, n=name)
    for line, each in enumerate(DOCUMENTS):
        begin, end = each.bates or (None, None)
        columns: dict[str, Any] = {
            "bates_begin": None if begin is None else f"SM{begin:0{3 + line % 3}}",
            "bates_end": None if end is None else f"SM{end:06}",
            "import_id": each.import_id,
            "line_no": line + 2,
            "parent_control_number": each.parent,
            "title": each.title,
            "native_path": each.native_path,
            "page_set_id": line + 1 if each.has_images else None,
        }
        exhibit = cases.exhibit(each.control_number, **columns)
        # An import is of one case.
        cases.exhibit(each.control_number, "Other", **{**columns, "import_id": each.import_id + 100})
        links = (("custodian", "custodian_exhibits", each.custodians), ("tag", "taggings", each.tags))
        for kind, table, linked in links:
            for name in linked:
                query(
                    f"INSERT INTO {table} (exhibit_id, {kind}_id, user_id) "
                    f"SELECT :e, id, 'u' FROM {kind}s WHERE name = :n",
                    e=exhibit,
                    n=name,
                )
        if each.overlaid:
            query(
                "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, import_id, line_no, changes) "
                "VALUES (:e, 2, 'overlaid', 'u', :i, 1, '{}')",
                e=exhibit,
                i=OVERLAY,
            )


def store_zones(cases: Cases) -> None:
    """Store zones of six documents each: neighbours in the file of one import, and in the list of another."""
    query, case = cases.database.query, cases.case("Case")
    if query("SELECT 1 FROM import_chunks LIMIT 1"):
        return
    ids = dict(map(tuple, query("SELECT control_number, id FROM exhibits WHERE case_id = :c", c=case)))
    for import_id in (7, 8):
        query(
            "INSERT INTO imports "
            "(id, upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status) VALUES"
            " (:i, REPEAT(:i, 32), :t, :c, 'b', 'k', 0, 'f', 'u', 'completed')",
            i=import_id,
            t=CALLER.tenant_id,
            c=case,
        )
        numbers = [each.control_number for each in DOCUMENTS if each.import_id == import_id]
        numbers = numbers if import_id == 7 else sorted(numbers)
        for place in range(0, len(numbers), 6):
            chunk = numbers[place : place + 6]
            zone = build_zone((number, ids[number]) for number in chunk)
            assert zone is not None
            values = {"import_id": import_id, "chunk_no": place, "imported": len(chunk), **zone._asdict()}
            values |= dict.fromkeys(("byte_start", "byte_end", "first_line", "last_line", "row_count"), 0)
            columns = ", ".join((*values, "sha256"))
            given = ", ".join((*(f":{name}" for name in values), "REPEAT('h', 32)"))
            query(f"INSERT INTO import_chunks ({columns}) VALUES ({given})", **values)


def family_of(number: str) -> set[str]:
    """The control numbers of a family."""
    parents = {each.control_number: each.parent for each in DOCUMENTS}

    def top(each: str) -> str:
        above = parents[each]
        return each if above is None else top(above)

    return {each for each in parents if number in parents and top(each) == top(number)}


PREDICATES: dict[str, Callable[[Document, Any], bool]] = {
    "custodian": lambda each, names: set(names) <= each.custodians,
    "tag": lambda each, names: set(names) <= each.tags,
    "withoutTag": lambda each, name: name not in each.tags,
    "importId": lambda each, number: str(each.import_id) == number,
    "changedByImport": lambda each, number: each.overlaid and number == str(OVERLAY),
    "parent": lambda each, number: each.parent == number,
    "family": lambda each, number: each.control_number in family_of(number),
    "hasImages": lambda each, value: each.has_images == (value == "true"),
    "hasNative": lambda each, value: (each.native_path is not None) == (value == "true"),
    "title": lambda each, word: word in each.title.casefold(),
    "batesFrom": lambda each, text: each.bates is not None and each.bates[1] >= int(text[2:]),
    "batesTo": lambda each, text: each.bates is not None and each.bates[0] <= int(text[2:]),
}
NUMBERS = st.sampled_from([*(each.control_number for each in DOCUMENTS), "none"])
BOOLEANS = st.sampled_from(("true", "false"))
FILTERS = {
    "custodian": st.lists(st.sampled_from(CUSTODIANS), min_size=1, max_size=2),
    "tag": st.lists(st.sampled_from(TAGS), min_size=1, max_size=2),
    "withoutTag": st.sampled_from((*TAGS, "Unknown")),
    "importId": st.sampled_from(("7", "8", "99")),
    "changedByImport": st.sampled_from((str(OVERLAY), "99")),
    "parent": NUMBERS,
    "family": NUMBERS,
    "hasImages": BOOLEANS,
    "hasNative": BOOLEANS,
    "title": st.sampled_from(("plan", "may", "none")),
    "batesFrom": st.integers(0, 300).map(lambda number: f"SM{number:04}"),
    "batesTo": st.integers(300, 600).map(lambda number: f"SM{number}"),
}
QUERIES = st.lists(st.sampled_from(sorted(FILTERS)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: FILTERS[name] for name in names})
)


def page(query: dict[str, Any], **place: Any) -> ExhibitPage:
    return list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", **query, **place}))


def numbers_of(found: ExhibitPage) -> list[str]:
    return [each.control_number for each in found.items]


def walk(query: dict[str, Any], limit: int, first: ExhibitPage) -> tuple[list[str], list[str]]:
    """The control numbers from a page to the end, and from there back to the beginning of the list."""
    pages, seen = first, numbers_of(first)
    while pages.next is not None:
        pages = page(query, limit=limit, after=pages.next)
        seen += numbers_of(pages)
    back = numbers_of(pages)
    while pages.prev is not None:
        pages = page(query, limit=limit, before=pages.prev)
        assert pages.next is not None or not pages.items
        back = numbers_of(pages) + back
    return seen, back


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    query=QUERIES,
    limit=st.sampled_from((1, 7, 500)),
    order=st.sampled_from(("asc", "desc")),
    start=st.one_of(st.none(), NUMBERS),
    bounds=st.tuples(*(st.sampled_from((0, 3, 1000)) for _ in range(2)), st.sampled_from((10, 1000))),
    is_zoned=st.booleans(),
)
@pytest.mark.slow
def test_walks_in_both_directions_are_those_of_a_list(
    cases: Cases,
    query: dict[str, Any],
    limit: int,
    order: str,
    start: str | None,
    bounds: tuple[int, int, int],
    is_zoned: bool,
) -> None:
    store(cases)
    store_zones(cases)
    # The chunks of a check have no zones.
    cases.database.query("UPDATE imports SET phase = :p", p="import" if is_zoned else "check")
    matching = [each for each in DOCUMENTS if all(PREDICATES[name](each, value) for name, value in query.items())]
    expected = sorted((each.control_number for each in matching), key=str.encode, reverse=order == "desc")
    ordered = {**query, "order": order}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leads, "FEW", bounds[0])
        patch.setattr(match_keys, "READ_IN_ORDER", bounds[1])
        patch.setattr(search, "MAX_SEARCHED", bounds[2])
        try:
            first = page(ordered, limit=limit, count="true", **({} if start is None else {"from": start}))
        except FilterTooBroadError:
            assert bounds[2] < COUNT, "a small case is searched as a whole"
            return
        seen, back = walk(ordered, limit, first)
    later = [each for each in expected if start is None or (each.encode() >= start.encode()) != (order == "desc")]
    later = sorted({*later, *([start] if start in expected else [])}, key=str.encode, reverse=order == "desc")
    assert seen == later
    # From an empty page, too, a walk back finds all that lies before it.
    assert back == expected or first.prev is None
    if query:
        assert (first.total, first.total_is_lower_bound) == (
            min(len(expected), bounds[2] + 1),
            len(expected) > bounds[2],
        )


def test_a_place_beyond_the_end_has_a_page_before(cases: Cases) -> None:
    cases.exhibits(3)
    beyond = page({}, **{"from": "Z"})
    assert (beyond.items, beyond.next) == ([], None)
    assert numbers_of(page({}, before=beyond.prev, limit=2)) == ["Case-000001", "Case-000002"]
    assert page({}, **{"from": "A"}).prev is None
    assert page({}, order="desc", **{"from": "A"}).prev is not None
    with pytest.raises(InvalidInputError, match="from: "):
        page({}, **{"from": "👍"})
    for more in (
        {"after": encode_cursor("A"), "from": "A"},
        {"after": encode_cursor("A"), "before": encode_cursor("A")},
    ):
        with pytest.raises(ValueError, match=r"after or before, not both|one of after, before and from"):
            page({}, **more)


def test_what_is_added_meanwhile_hides_nothing_on_the_way_back(cases: Cases) -> None:
    cases.exhibits(20)
    pages = page({}, limit=3)
    while pages.next is not None:
        pages = page({}, limit=3, after=pages.next)
    seen = numbers_of(pages)
    while pages.prev is not None:
        first = pages.items[0].control_number
        cases.exhibit(f"{first}-after")
        cases.exhibit(f"A-{first}")
        pages = page({}, limit=3, before=pages.prev)
        seen = numbers_of(pages) + seen
    assert [number for number in seen if number.startswith("Case") and "after" not in number] == [
        f"Case-{number:06}" for number in range(20)
    ]
    assert len(seen) == len(set(seen))
