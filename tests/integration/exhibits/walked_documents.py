"""Documents that walks through lists and samples of a case are compared with, and what filters select of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shell.zones.zone_map import build_zone
from tests.support.exhibits.stored_cases import Cases, put_import

COUNT = 60
OVERLAY = 9
CUSTODIANS = ("Ann", "Lee, Bob")
TAGS = {"Hot": 0.6, "Cold": 0.3, "Rare": 0.05, "Hot\\Really Hot": 0.2, "Hotel": 0.1}


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
                tags={each for each, share in TAGS.items() if draw.random() < share},
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
    put_import(cases.database, case, OVERLAY)
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
    "tagTree": lambda each, names: all(any(f"{t}\\".lower().startswith(f"{n}\\") for t in each.tags) for n in names),
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
