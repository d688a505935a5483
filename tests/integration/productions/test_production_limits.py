"""What a production costs the database: so many statements a thousand documents, and no rows but its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from core.contracts.pages import ListQuery
from core.contracts.queries import ProductionQuery
from core.errors import InvalidInputError
from core.productions.volume import MAX_DOCUMENTS
from shell.db.session import session
from shell.productions import selection, steps
from shell.productions.documents import PART_SIZE, list_part
from shell.productions.queries import get_production, list_documents, list_productions
from shell.productions.selection import check_count
from shell.tables.productions import Productions
from tests.support.application.driver import World
from tests.support.database.server_status import rows_read, statements
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import CALLER, ask

LARGE, OWN, TENANTS = 20_000, 1_000, 1_000
_NUMBERS = "JSON_TABLE(:numbers, '$[*]' COLUMNS (n BIGINT PATH '$')) AS given"


def put_case(world: World, name: str, documents: int) -> list[int]:
    """A case with so many exhibits, and with a custodian and a tag each."""
    case_id = get_or_create_case(world, name, "tenant")
    ids = put_exhibits(world, case_id, [f"D{number:05}" for number in range(documents)])
    world.query("INSERT INTO custodians (case_id, name) VALUES (:c, 'Ada')", c=case_id)
    world.query("INSERT INTO tags (case_id, name) VALUES (:c, 'Hot')", c=case_id)
    link = "SELECT exhibits.id, {0}.id, 'u' FROM exhibits JOIN {0} USING (case_id) WHERE case_id = :c"
    for table, links in (("custodians", "custodian_exhibits"), ("tags", "taggings")):
        columns = f"(exhibit_id, {table.removesuffix('s')}_id, user_id)"
        world.query(f"INSERT INTO {links} {columns} {link.format(table)}", c=case_id)
    return ids


def counted(world: World, work: Callable[[], Any]) -> tuple[int, list[Any]]:
    """How many statements, and what came of it."""
    results: list[Any] = []
    return statements(world, lambda: results.append(work())), results


def reserved(production_id: int) -> tuple[Productions, tuple[int, int]]:
    """A production that has numbers, and where its documents begin."""
    context = steps.reserve({steps.PRODUCTION: production_id})
    with session() as reading:
        return reading.get_one(Productions, production_id), (context[steps.DESTINATION], context[steps.POSITION])


QUERIES: list[dict[str, Any]] = [{"query": {}}, {"query": {"tag": "Hot", "custodian": "Ada"}}, {"numbering": "page"}]


@pytest.mark.slow
def test_numbers_and_parts_for_a_thousand_cost_the_statements_of_ten(world: World) -> None:
    found, parts = dict[int, list[int]](), list[int]()
    for documents in (10, 1_000, 2_500):
        ids = put_case(world, f"Case {documents}", documents)
        # The first one of a volume makes its destination.
        steps.reserve({steps.PRODUCTION: ask(f"Case {documents}", query=None, exhibitIds=ids[:1])})
        for fields in (*QUERIES, {"query": None, "exhibitIds": ids}):
            production = ask(f"Case {documents}", **fields)
            count, [context] = counted(world, partial(steps.reserve, {steps.PRODUCTION: production}))
            assert context[steps.DOCUMENTS] == documents
            found.setdefault(documents, []).append(count)
        count, [part] = counted(world, partial(list_part, *reserved(production), 0))
        assert [len(part), {tuple(each.custodians) for each in part}] == [min(documents, PART_SIZE), {("Ada",)}]
        parts.append(count)
    print(f"statements for the numbers of so many documents, by query and by ids: {found}")
    assert (found[1_000], len(set(parts))) == (found[10], 1)
    more = "six a page of 2,000 exhibits: read, find linked files, children and families, lock, find linked files again"
    assert found[2_500][:3] == [each + 6 for each in found[10][:3]], more


_DOCUMENTS = f"""
    INSERT INTO production_documents
    (production_id, exhibit_id, destination_id, position, sequence_id, first_number, last_number, status, files)
    SELECT 1000000 + given.n DIV 1000, :exhibit + given.n, :destination + given.n MOD 2, 1000000 + given.n,
    :sequence + given.n MOD 2, 1000000 + given.n, 1000000 + given.n, 'produced', '{{}}' FROM {_NUMBERS}
"""
_PRODUCTIONS = f"""
    INSERT INTO productions
    (tenant_id, case_id, user_id, volume, prefix, digits, numbering, selection, properties, status, is_open)
    SELECT :tenant, :case_id, 'u', 'V', 'P', 7, 'document', '{{}}', '[]', 'confirmed', 0 FROM {_NUMBERS}
"""


def put_others(world: World, own: int) -> None:
    """Documents of others, half of them of the production's prefix and volume, and six thousand productions."""
    columns = "exhibit_id AS exhibit, destination_id AS destination, sequence_id AS sequence"
    [row] = world.query(f"SELECT {columns} FROM production_documents WHERE production_id = :p", p=own)
    world.query(_DOCUMENTS, numbers=json.dumps(list(range(LARGE))), **row._mapping)
    for tenant, count in (("tenant", TENANTS), ("other", 5 * TENANTS)):
        numbers = json.dumps(list(range(count)))
        world.query(_PRODUCTIONS, tenant=tenant, case_id=get_or_create_case(world, "Another", tenant), numbers=numbers)
    world.query("ANALYZE TABLE production_documents, productions, production_steps")


def reading_costs(world: World, production: int) -> dict[str, tuple[int, int]]:
    """The statements and the rows that each way of reading productions costs."""
    reading: dict[str, Callable[[], Any]] = {
        "get": partial(get_production, CALLER, production),
        "list": partial(list_productions, CALLER, ProductionQuery(limit=10)),
        "of a case": partial(list_productions, CALLER, ProductionQuery(case="Case", limit=10)),
        "documents": partial(list_documents, CALLER, production, ListQuery(limit=10)),
    }
    return {name: (statements(world, work), rows_read(world, work)) for name, work in reading.items()}


def test_neither_steps_nor_lists_read_the_rows_of_others(world: World) -> None:
    ids = put_case(world, "Case", OWN)
    first = ask(query=None, exhibitIds=ids[:1])
    steps.reserve({steps.PRODUCTION: first})
    alone = reading_costs(world, first)
    put_others(world, first)
    among = reading_costs(world, first)
    assert {name: count for name, (count, _) in among.items()} == {name: count for name, (count, _) in alone.items()}
    assert among["list"][1] < 3 * TENANTS, "its own are sorted, and those of other tenants are not read"
    assert all(among[name][1] < 50 for name in among if name != "list")
    production = ask()
    found = {"reserve": rows_read(world, lambda: steps.reserve({steps.PRODUCTION: production}))}
    ours, start = reserved(production)
    found["again"] = rows_read(world, lambda: steps.reserve({steps.PRODUCTION: production}))
    found["part"] = rows_read(world, lambda: list_part(ours, start, 1))
    found["confirm"] = rows_read(world, lambda: steps._confirm(production))
    print(f"rows read for {OWN} documents among {LARGE} others: {found}; for lists: {among}")
    assert max(found.values()) < 8 * OWN


def test_a_production_has_a_hundred_thousand_documents_at_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    check_count(MAX_DOCUMENTS)
    assert MAX_DOCUMENTS == 100_000
    monkeypatch.setattr(selection, "MAX_DOCUMENTS", 9)
    put_case(world, "Case", 10)
    with pytest.raises(InvalidInputError, match="10 exhibits match; a production has at most 9"):
        ask()
