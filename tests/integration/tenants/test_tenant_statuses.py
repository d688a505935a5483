"""What a tenant's status refuses, at once in every transaction that writes, and soon in every process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from shell.db.session import session
from shell.tenants.first_use import forget_tenants
from shell.tenants.records import find_tenant, share_tenant
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.database.counted_database import Database

ADA = Client("acme")
SUSPEND = "UPDATE tenants SET status = 'suspended', reason = 'The invoice of May is open.' WHERE tenant_id = 'acme'"


def set_status(world: World, status: str) -> None:
    world.query("UPDATE tenants SET status = :status WHERE tenant_id = 'acme'", status=status)


def read() -> Reply:
    return ADA.get("/cases")


def write(name: str = "Smith v. Jones") -> Reply:
    return ADA.post("/cases", {"name": name})


@pytest.mark.parametrize(
    ("status", "reads", "writes"),
    [("active", 200, 201), ("read_only", 200, 403), ("leaving", 200, 403), ("suspended", 403, 403)],
)
def test_a_status_refuses_requests_for_what_they_do(world: World, status: str, reads: int, writes: int) -> None:
    read()
    set_status(world, status)
    forget_tenants()
    assert (read().status, write().status) == (reads, writes)
    assert Client("other").get("/cases").status == 200


def test_a_refusal_has_the_reason_of_the_operator(world: World) -> None:
    read()
    world.query(SUSPEND)
    forget_tenants()
    refused = read()
    assert (refused.status, refused.problem) == (403, "tenant-refused")
    assert refused.json["detail"].startswith("Your tenant is suspended: The invoice of May is open. Ask the operator")


def test_a_process_that_read_the_tenant_before_refuses_its_writes_nevertheless(world: World) -> None:
    assert write("First").status == 201
    set_status(world, "suspended")
    assert read().status == 200, "it is known as active for up to 30 s"
    assert (write("Second").problem, len(world.query("SELECT 1 FROM cases"))) == ("tenant-refused", 1)


@pytest.mark.parametrize(("lock", "waits"), [(share_tenant, True), (find_tenant, False)])
def test_a_status_is_set_after_the_commit_of_what_has_read_the_one_before(
    world: World, database: Database, lock: Callable[..., object], waits: bool
) -> None:
    """A plain read is the negative control: the write that follows it commits after the suspension."""
    read()
    with ThreadPoolExecutor(1) as pool:
        with session() as writing:
            lock(writing, "acme")
            suspended = pool.submit(world.query, SUSPEND)
            if waits:
                database.until_waiting(1)
            else:
                suspended.result(timeout=60)
            assert suspended.done() is not waits
        suspended.result(timeout=60)
