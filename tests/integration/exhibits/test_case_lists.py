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


def put_import(cases: Cases, case: str, started_at: str) -> None:
    values: dict[str, Any] = {"case": cases.case(case), "at": started_at}
    cases.database.query(
        "INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status, "
        "started_at) VALUES (UNHEX(SHA2(UUID(), 256)), 'tenant', :case, 'b', 'k', 1, 'f', 'u', 'completed', :at)",
        **values,
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
