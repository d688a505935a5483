"""Cases of a tenant: listed once each, with what their imports brought, and created only where there is none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.caller import Caller
from core.contracts.cases import NewCase
from core.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from core.pagination import encode_cursor
from shell.exhibits.case_list import add_case, list_cases
from tests.integration.exhibits.support import CALLER
from tests.support.cases import Cases
from tests.support.database import done
from tests.support.watching import statements
from tests.support.world import World

LIMITED = Caller(CALLER.tenant_id, "limited", frozenset({"A", "Z", "👍"}))


def listed(caller: Caller = CALLER, limit: int = 100, prefix: str | None = None) -> list[str]:
    names: list[str] = []
    after: str | None = None
    while True:
        page = list_cases(caller, prefix, limit, after)
        names += [each.name for each in page.items]
        after = page.next
        if after is None:
            return names


def put_import(cases: Cases, case: str, imported: int, started_at: str) -> None:
    values: dict[str, Any] = {"case": cases.case(case), "imported": imported, "at": started_at}
    cases.database.query(
        "INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status, "
        "imported, started_at) VALUES (UNHEX(SHA2(UUID(), 256)), 'tenant', :case, 'b', 'k', 1, 'f', 'u', 'completed', "
        ":imported, :at)",
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
        list_cases(CALLER, None, 5, encode_cursor(5))


def test_a_case_has_what_its_imports_brought(cases: Cases, world: World) -> None:
    cases.case("Empty")
    cases.case("Full")
    before = statements(world, lambda: list_cases(CALLER, None, 5, None))
    put_import(cases, "Full", 3, "2026-01-02")
    put_import(cases, "Full", 4, "2026-01-01")
    empty, full = list_cases(CALLER, None, 5, None).items
    assert (empty.imports, empty.documents, empty.last_import_at) == (0, 0, None)
    assert (full.imports, full.documents, full.last_import_at) == (2, 7, datetime(2026, 1, 2))
    assert statements(world, lambda: list_cases(CALLER, None, 5, None)) == before


def test_documents_that_undos_removed_are_not_counted(cases: Cases) -> None:
    for imported in (5, 7):
        put_import(cases, "Full", imported, "2026-01-01")
    for undo_no, dry_run, removed in ((1, 1, 5), (2, 0, 3), (3, 0, 1)):
        cases.database.query(
            "INSERT INTO import_undos (import_id, undo_no, status, dry_run, user_id, status_before, removed) "
            "SELECT MIN(id), :undo_no, 'undone_with_conflicts', :dry_run, 'u', 'completed', :removed FROM imports",
            undo_no=undo_no,
            dry_run=dry_run,
            removed=removed,
        )
    assert [each.documents for each in list_cases(CALLER, None, 5, None).items] == [8]


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
