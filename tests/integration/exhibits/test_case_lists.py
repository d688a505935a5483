"""Cases of a tenant: listed once each, with what their imports brought, and created only where there is none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.caller import Caller
from core.contracts.cases import NewCase
from core.contracts.queries import CasesQuery
from core.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from core.pagination import encode_cursor
from shell.db.session import session
from shell.exhibits.case_list import add_case, list_cases
from shell.exhibits.cases import get_case_id, get_or_create_case
from tests.integration.exhibits.exhibit_requests import CALLER, sent_by
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.database.server_status import statements
from tests.support.exhibits.stored_cases import Cases

LIMITED = Caller(CALLER.tenant_id, "limited", frozenset({"A", "Z", "👍"}))


def listed(caller: Caller = CALLER, limit: int = 100, prefix: str | None = None) -> list[str]:
    names: list[str] = []
    after: str | None = None
    while True:
        page = list_cases(caller, CasesQuery.model_construct(prefix=prefix, limit=limit, after=after))
        names += [each.name for each in page.items]
        after = page.next
        if after is None:
            return names


def put_import(cases: Cases, case: str, started_at: str, **columns: Any) -> int:
    """Add an import, whose id is returned."""
    values: dict[str, Any] = {
        "tenant_id": "tenant",
        "case_id": cases.case(case),
        "bucket": "b",
        "object_key": "k",
        "size": 1,
        "file_name": "f",
        "user_id": "u",
        "status": "completed",
        "started_at": started_at,
        **columns,
    }
    cases.database.query(
        f"INSERT INTO imports (upload_key, {', '.join(values)}) "
        f"VALUES (UNHEX(SHA2(UUID(), 256)), {', '.join(f':{name}' for name in values)})",
        **values,
    )
    return int(cases.database.query("SELECT MAX(id) FROM imports")[0][0])


def put_rejections(cases: Cases, case: str) -> None:
    """Add imports of every kind, with 9 open rejections in all."""
    rejected = {"status": "completed_with_rejections", "rejected": 5, "chunk_count": 1}
    corrected = put_import(cases, case, "2026-01-01", **rejected)
    put_import(cases, case, "2026-01-01", **{**rejected, "status": "cancelled"})
    running = put_import(cases, case, "2026-01-01", status="running", chunk_count=2)
    waiting = put_import(cases, case, "2026-01-01", status="running")
    put_import(cases, case, "2026-01-01", **rejected, corrects_import_id=corrected)
    put_import(cases, case, "2026-01-01", **rejected, phase="check")
    put_import(cases, case, "2026-01-01", **{**rejected, "status": "undone_with_conflicts"})
    for import_id, chunk, count in ((running, 1, 2), (running, 2, 0), (waiting, 1, 7)):
        put_chunk(cases, import_id, chunk, count)
    for line, status in enumerate(("accepted", "discarded", "pending", "accepted"), start=2):
        cases.database.query(
            "INSERT INTO import_corrections (import_id, line_no, status, user_id) VALUES (:i, :line, :status, 'u')",
            i=corrected,
            line=line,
            status=status,
        )


def put_chunk(cases: Cases, import_id: int, number: int, rejected: int) -> None:
    cases.database.query(
        "INSERT INTO import_chunks (import_id, chunk_no, byte_start, byte_end, first_line, last_line, row_count, "
        "sha256, rejected) VALUES (:i, :number, 0, 9, 2, 9, 8, UNHEX(SHA2('', 256)), :rejected)",
        i=import_id,
        number=number,
        rejected=rejected,
    )


def test_pages_hold_every_case_of_the_tenant_once(cases: Cases) -> None:
    for name in ("b", "A", "é", "A v. B", "A_", "Ab"):
        cases.case(name)
    cases.case("A", tenant="other")
    cases.case("Hidden", tenant="other")
    for limit in (1, 2, 6):
        assert listed(limit=limit) == ["A", "A v. B", "A_", "Ab", "b", "é"]
    assert listed(prefix="A", limit=1) == ["A", "A v. B", "A_", "Ab"]
    assert listed(prefix="A_") == ["A_"]
    assert listed(prefix="a") == listed(prefix="%") == listed(prefix="x" * 300) == listed(prefix="\ud800") == []
    assert listed(LIMITED) == ["A"]
    with pytest.raises(InvalidInputError, match="after: "):
        list_cases(CALLER, CasesQuery(after=encode_cursor(5)))


def test_a_case_has_its_imports_and_when_the_last_one_began(cases: Cases, world: World) -> None:
    """test_counts.py has the documents, after whatever creates or removes them."""
    cases.case("Empty")
    cases.case("Full")
    before = statements(world, lambda: list_cases(CALLER, CasesQuery(limit=5)))
    put_import(cases, "Full", "2026-01-02")
    put_import(cases, "Full", "2026-01-01")
    empty, full = list_cases(CALLER, CasesQuery(limit=5)).items
    assert (empty.imports, empty.documents, empty.last_import_at) == (0, 0, None)
    assert (full.imports, full.documents, full.last_import_at) == (2, 0, datetime(2026, 1, 2))
    assert statements(world, lambda: list_cases(CALLER, CasesQuery(limit=5))) == before


def test_a_case_has_the_open_rejections_of_its_imports_in_as_many_statements_as_one(cases: Cases, world: World) -> None:
    """test_correction_claims.py compares them with the imports of the API."""
    cases.case("Empty")
    put_rejections(cases, "First")
    before = statements(world, lambda: list_cases(CALLER, CasesQuery()))
    for number in range(3):
        put_rejections(cases, f"Further {number}")
    put_rejections(cases, "Further 0")
    counts = {each.name: each.open_rejections for each in list_cases(CALLER, CasesQuery()).items}
    assert counts == {"Empty": 0, "First": 9, "Further 0": 18, "Further 1": 9, "Further 2": 9}
    assert statements(world, lambda: list_cases(CALLER, CasesQuery())) == before


def test_open_rejections_of_a_case_with_many_imports_are_found_by_indexes(cases: Cases) -> None:
    for _ in range(40):
        put_rejections(cases, "Many")
        put_rejections(cases, "Other")
    cases.database.query("ANALYZE TABLE imports, import_chunks, import_corrections")
    sent = sent_by(lambda: list_cases(CALLER, CasesQuery(prefix="Many")))
    [statement] = [each for each in sent if "import_corrections" in each[0]]
    with cases.database.admin.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN FORMAT=TRADITIONAL {statement[0]}", statement[1]).mappings().all()
    keys = {each["table"]: each["key"] for each in plan}
    assert keys["claim"] == "ix_import_corrections_status"
    assert keys["k"] == "PRIMARY"
    assert keys["i"] == "ix_imports_case"


@pytest.mark.parametrize("name", ["KA ", "KA   "])
def test_a_name_with_spaces_at_its_end_is_not_the_case_of_that_name(cases: Cases, name: str) -> None:
    """The collation of the column pads with spaces; other tests compare names that it does not take for equal."""
    cases.case("KA")
    limited = Caller(CALLER.tenant_id, "limited", frozenset({name}))
    with session() as reading:
        assert get_case_id(reading, CALLER, "KA") == get_or_create_case(reading, CALLER.tenant_id, "KA")
        for caller in (CALLER, limited):
            with pytest.raises(NotFoundError):
                get_case_id(reading, caller, name)
        with pytest.raises(InvalidInputError, match="other spaces at its end"):
            get_or_create_case(reading, CALLER.tenant_id, name)
    assert (listed(), listed(limited)) == (["KA"], [])


def test_a_case_is_found_by_the_index_of_the_names(cases: Cases) -> None:
    for each in range(300):
        cases.case(f"case {each}")
    limited = Caller(CALLER.tenant_id, "limited", frozenset({"case 7"}))
    with session() as reading:
        sent = sent_by(lambda: get_case_id(reading, CALLER, "case 7"))
    sent += sent_by(lambda: list_cases(limited, CasesQuery(limit=5)))
    of_names = [each for each in sent if "WHERE cases.tenant_id" in each[0]]
    assert len(of_names) == 2
    for statement, values in of_names:
        with cases.database.admin.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN FORMAT=TRADITIONAL {statement}", values).mappings().one()
        assert (plan["key"], int(plan["rows"])) == ("uq_cases_tenant_name", 1)


def test_a_case_is_created_once(cases: Cases) -> None:
    cases.case("A", tenant="other")
    made = done(add_case, CALLER, NewCase(name="A"))
    assert (made.id, made.name) == (cases.case("A"), "A")
    assert abs((datetime.now(UTC).replace(tzinfo=None) - made.created_at).total_seconds()) < 3600
    with pytest.raises(AlreadyExistsError):
        done(add_case, CALLER, NewCase(name="A"))
    assert done(add_case, LIMITED, NewCase(name="Z")).name == "Z"
    with pytest.raises(NotFoundError):
        done(add_case, LIMITED, NewCase(name="B"))
    assert listed() == ["A", "Z"]
