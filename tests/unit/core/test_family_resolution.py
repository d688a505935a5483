"""The parent that is chosen is that of a reference which compares every document with every statement."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from core.families import resolution
from core.families.kinds import FamilyKind, hash_key
from core.families.resolution import Candidates, Document, Statement, resolve
from tests.support.imports.family_reference import Doc, Said, find_parents

KEYS = ["R-0", "R-1", "R-2", "B-1", "B-2", *["17"] * 3, "X"]
CASES = 3_000


def draw_claims(draw: random.Random) -> tuple[str, ...]:
    """Few documents claim numbers."""
    return tuple(draw.sample(["B-1", "B-2", "R-1", "X"], draw.choice([0, 0, 1, 2])))


def draw_case(seed: int) -> tuple[list[Doc], list[Said]]:
    """A few documents of three imports, and what was stated of them; an import states one thing of a kind of each."""
    draw = random.Random(seed)
    places = draw.sample([(import_id, line) for import_id in range(1, 4) for line in range(2, 8)], draw.randint(2, 5))
    docs = [
        Doc(n, f"R-{n}", draw.choice([None, "B-1", "B-2"]), draw.choice([None, None, "R-1"]), *place, draw_claims(draw))
        for n, place in enumerate(places)
    ]
    said: dict[tuple[int, str, int], Said] = {}
    for _ in range(draw.randint(1, 14)):
        doc, kind = draw.choice(docs), draw.choice(["parent", *["begin"] * 2, "range", *["group"] * 3, "members"])
        import_id = draw.choice([doc.import_id, draw.randint(1, 4)]) if kind != "parent" else 0
        most = {"parent": 0, "members": 2}.get(kind, 1)
        keys = tuple(draw.sample(KEYS, draw.randint(min(most, draw.randint(0, 1)), most)))
        line = doc.line if import_id == doc.import_id else 10 * import_id + doc.id
        said.setdefault((doc.id, kind, import_id), Said(doc.id, kind, keys, import_id, line))
    return docs, list(said.values())


def statements(said: list[Said]) -> list[Statement]:
    """The rows that are stored: one for each key, one without a key if there is none."""
    rows = [(each, key) for each in said for key in each.keys or (None,)]
    return [
        Statement(n, each.doc, FamilyKind(each.kind), key, hash_key(key) if key else None, *_place(each))
        for n, (each, key) in enumerate(rows, start=1)
    ]


def _place(said: Said) -> tuple[int | None, int | None]:
    return said.import_id or None, said.line or None


def candidates(docs: list[Document], rows: list[Statement]) -> Candidates:
    """What the statements can mean, looked up in lists."""
    by_id, last = {each.id: each for each in docs}, {each.exhibit_id: each for each in rows if each.kind == "members"}
    kinds = [each for each in rows if each.kind in ("group", "parent")]
    groups = [
        each
        for n, each in enumerate(kinds)
        if all((one.kind, one.key) == ("group", each.key) for one in kinds[n:] if one.exhibit_id == each.exhibit_id)
    ]
    found = Candidates({}, {}, {})
    numbers = {number for each in docs for number in each.numbers}
    by_number = {number: [each for each in docs if number in each.numbers] for number in numbers}
    first: dict[tuple[bytes, int], Document] = {}
    for each in sorted(filter(lambda each: each.key_hash, groups), key=lambda each: -(each.line_no or 0)):
        first[each.key_hash or b"", each.import_id or 0] = by_id[each.exhibit_id]
    listed: dict[str, list[tuple[Statement, Document]]] = {}
    for each in rows:
        if each.kind == "members" and each.key and each.import_id == last[each.exhibit_id].import_id:
            listed.setdefault(each.key, []).append((each, by_id[each.exhibit_id]))
    return replace(found, by_number=by_number, first_of_group=first, listed_by=listed)


def chosen(docs: list[Doc], said: list[Said]) -> dict[str, str | None]:
    """The parent of each document, as the application chooses it."""
    documents, rows = [Document(*each) for each in docs], statements(said)
    found = candidates(documents, rows)
    parents = {
        each.control_number: resolve(
            each, [row for row in rows if row.exhibit_id == each.id and row.kind != "members"], found
        )
        for each in documents
    }
    return {number: parent.control_number if parent else None for number, parent in parents.items()}


def test_the_parent_is_that_of_the_reference() -> None:
    for seed in range(CASES):
        case = draw_case(seed)
        assert chosen(*case) == find_parents(*case), case


@pytest.mark.parametrize(
    "rule", ["choose_document", "select_current", "_repeats_group", "find_explicit", "_find_lister"]
)
def test_without_a_rule_it_is_another_one(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference depends on every rule."""
    broken = {
        "choose_document": lambda documents, key, _import: next(
            (each for each in documents if key in each.numbers), None
        ),
        "select_current": lambda rows: {each.kind: each for each in rows if each.kind != "parent"},
        "_repeats_group": lambda *_: False,
        "find_explicit": lambda document, _statements: document.parent,
        "_find_lister": lambda *_: None,
    }
    monkeypatch.setattr(resolution, rule, broken[rule])
    with pytest.raises(AssertionError):
        test_the_parent_is_that_of_the_reference()
