"""What a production costs the database: so many statements a thousand documents, and no rows but its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from core.productions.volume import MAX_DOCUMENTS
from shell.db.session import session
from shell.productions import steps
from shell.productions.documents import list_part
from shell.productions.selection import check_count
from shell.tables.productions import Productions
from tests.support.cases import get_or_create_case, put_exhibits
from tests.support.productions import ask
from tests.support.watching import statements
from tests.support.world import World

LARGE, OWN = 100_000, 1_000
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


QUERIES: list[dict[str, Any]] = [{"query": {}}, {"query": {"tag": "Hot", "custodian": "Ada"}}, {"numbering": "page"}]


@pytest.mark.parametrize("asked", QUERIES, ids=["all", "linked", "by page"])
def test_numbers_for_a_thousand_cost_the_statements_of_ten(world: World, asked: dict[str, Any]) -> None:
    found = {}
    for documents in (10, 1_000, 2_500):
        put_case(world, f"Case {documents}", documents)
        # The first one of a volume makes its destination.
        steps.reserve({steps.PRODUCTION: ask(f"Case {documents}", **asked)})
        again = ask(f"Case {documents}", **asked)
        found[documents], [context] = counted(world, partial(steps.reserve, {steps.PRODUCTION: again}))
        assert context[steps.DOCUMENTS] == documents
    print(f"statements for the numbers of so many documents: {found}")
    assert found[1_000] == found[10]
    assert found[2_500] == found[10] + 1, "one a page of 2,000 exhibits"


def test_ids_cost_the_statements_of_a_query(world: World) -> None:
    ids = put_case(world, "Case", 1_000)
    steps.reserve({steps.PRODUCTION: ask(query=None, exhibitIds=ids[:1])})
    found = []
    for some in (ids[:10], ids):
        production = ask(query=None, exhibitIds=some)
        found.append(counted(world, partial(steps.reserve, {steps.PRODUCTION: production}))[0])
    assert found[0] == found[1]


def put_others(world: World, exhibit: int) -> None:
    """A hundred thousand documents of a hundred other productions, of the same and of other volumes and prefixes."""
    insert = (
        "INSERT INTO production_documents (production_id, exhibit_id, destination_id, position, sequence_id, "
        "first_number, last_number, status, files) SELECT 1000000 + given.n DIV 1000, :e + given.n, (SELECT MIN(id) + "
        "given.n MOD 2 FROM insert_destinations), 1000000 + given.n, (SELECT MIN(id) + given.n MOD 2 FROM "
        f"bates_sequences), 1000000 + given.n, 1000000 + given.n, 'produced', '{{}}' FROM {_NUMBERS}"
    )
    world.query(insert, numbers=json.dumps(list(range(LARGE))), e=exhibit)
    world.query("ANALYZE TABLE production_documents")


def rows_read(world: World, work: Callable[[], Any]) -> int:
    """How many rows the server reads for the work, on the pooled connection."""

    def handled() -> int:
        return sum(int(value) for _, value in world.query("SHOW SESSION STATUS LIKE 'Handler_read%'"))

    before = handled()
    work()
    return handled() - before


def test_no_step_reads_the_rows_of_others(world: World) -> None:
    ids = put_case(world, "Case", OWN)
    steps.reserve({steps.PRODUCTION: ask(query=None, exhibitIds=ids[:1])})
    put_others(world, ids[0])
    production = ask()
    found = {"reserve": rows_read(world, lambda: steps.reserve({steps.PRODUCTION: production}))}
    context = steps.reserve({steps.PRODUCTION: production})
    with session() as reading:
        ours = reading.get_one(Productions, production)
    start = (context[steps.DESTINATION], context[steps.POSITION])
    found["again"] = rows_read(world, lambda: steps.reserve({steps.PRODUCTION: production}))
    found["part"] = rows_read(world, lambda: list_part(ours, start, 1))
    found["confirm"] = rows_read(world, lambda: steps._confirm(production))
    print(f"rows read for {OWN} documents among {LARGE} others: {found}")
    assert max(found.values()) < 6 * OWN


def test_a_part_costs_the_same_whatever_its_size(world: World) -> None:
    found = []
    for documents in (1, 500):
        put_case(world, f"Case {documents}", documents)
        context = steps.reserve({steps.PRODUCTION: (production := ask(f"Case {documents}"))})
        with session() as reading:
            ours = reading.get_one(Productions, production)
        start = (context[steps.DESTINATION], context[steps.POSITION])
        number, [part] = counted(world, partial(list_part, ours, start, 0))
        assert [len(part), {tuple(each.custodians) for each in part}] == [documents, {("Ada",)}]
        found.append(number)
    assert found[0] == found[1]


def test_a_production_has_a_hundred_thousand_documents_at_most(world: World) -> None:
    check_count(MAX_DOCUMENTS)
    case_id = get_or_create_case(world, "Case", "tenant")
    insert = (
        "INSERT INTO exhibits (case_id, control_number, import_id, line_no, row_hash) "
        f"SELECT :c, LPAD(given.n, 6, '0'), 1, given.n, '' FROM {_NUMBERS}"
    )
    world.query(insert, c=case_id, numbers=json.dumps(list(range(MAX_DOCUMENTS + 1))))
    with pytest.raises(Exception, match="100001 exhibits match; a production has at most 100000"):
        ask()
