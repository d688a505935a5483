"""While there is no server to write to a request waits; then its problem says that the database wakes up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from shell.settings import settings
from tests.integration.api.conftest import Matter
from tests.support.application.cleared_caches import forget_caches
from tests.support.faults.refusing_proxy import RefusingProxy
from tests.support.faults.tcp_proxy import proxied

SENT = [("GET", "/cases", None), ("POST", "/cases", {"name": "Acme v. Jones"})]
TIMES = 1_000_000


@pytest.fixture
def asleep(acme: Matter) -> Iterator[RefusingProxy]:
    """A database that ends every login, and an application that waits for 0.3 s instead of a minute."""
    url = make_url(settings().database_url or "")
    with proxied(RefusingProxy, url) as (proxy, through), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", through.render_as_string(hide_password=False))
        patch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.001")
        forget_caches()
        proxy.break_logins(TIMES)
        yield proxy
    forget_caches()


@pytest.mark.parametrize(("method", "path", "body"), SENT, ids=["read", "change"])
def test_a_database_that_wakes_up_is_a_problem_of_its_own(
    acme: Matter, asleep: RefusingProxy, method: str, path: str, body: object
) -> None:
    key = {"Idempotency-Key": "once"} if method == "POST" else {}
    reply = acme.client.call(method, path, body, **key)
    assert (reply.status, reply.problem, reply.headers["retry-after"]) == (503, "waking-up", "5")
    assert reply.json["title"] == "The database is waking up or restarting."
    assert "Try again after the time in Retry-After" in reply.json["detail"]
    assert asleep.logins > 5, "it waited for the database"
    asleep.break_logins(0)
    assert acme.client.call(method, path, body, **key).status in (200, 201), "the same request, once it is awake"
