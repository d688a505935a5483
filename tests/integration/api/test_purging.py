"""What is over is removed, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.pool import NullPool

import purge_expired
from shell.db.session import session
from tests.support.application.driver import Context, World
from tests.support.exhibits.stored_cases import Matter


def purge() -> dict[str, int]:
    return dict(purge_expired.lambda_handler({}, Context()))


def key(world: World, name: str, status: str, *, age_h: float, lease_s: int = -1) -> None:
    world.query(
        "INSERT INTO idempotency_keys (tenant_id, route, idempotency_key, fingerprint, status, owner, attempt, "
        "lease_until, created_at) VALUES ('acme', 'POST /x', :n, '', :s, '', 1, NOW(6) + INTERVAL :l SECOND, "
        "NOW(6) - INTERVAL :a SECOND)",
        n=name,
        s=status,
        a=int(age_h * 3600),
        l=lease_s,
    )


def test_a_run_is_counted_also_if_it_removes_nothing_and_one_that_fails_is_not(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An alarm goes off without a sample; the name of the metric is the alarm's."""
    purge()
    assert '"RowsPurged":[0.0]' in capsys.readouterr().out.replace(" ", "")
    monkeypatch.setattr("shell.maintenance.purge.expire_uploads", lambda _limit: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        purge()
    assert "RowsPurged" not in capsys.readouterr().out


def test_answers_are_kept_for_their_time_and_then_removed(world: World) -> None:
    for status in ("completed", "released", "in_progress"):
        key(world, f"old {status}", status, age_h=24.1)
        key(world, f"young {status}", status, age_h=23.9)
    key(world, "claimed right now", "in_progress", age_h=100, lease_s=30)
    assert purge()["idempotency_keys"] == 3
    kept = world.query("SELECT idempotency_key FROM idempotency_keys ORDER BY id")
    assert [row[0].split()[0] for row in kept] == [b"young"] * 3 + [b"claimed"]
    assert set(purge().values()) == {0}, "nothing to remove is not an error"


def many_keys(world: World) -> None:
    """1,024 that are over."""
    key(world, "0", "completed", age_h=30)
    for _ in range(10):
        world.query(
            "INSERT INTO idempotency_keys (tenant_id, route, idempotency_key, fingerprint, status, owner, attempt, "
            "lease_until, created_at) SELECT tenant_id, route, UUID(), fingerprint, status, owner, attempt, "
            "lease_until, created_at FROM idempotency_keys"
        )


def claimed_before(world: World, statement: str) -> Callable[..., None]:
    """Claims keys anew, on another connection, whenever keys are about to be deleted."""

    def claim(_connection: object, _cursor: object, sent: str, *_: object) -> None:
        if "DELETE FROM idempotency_keys" in sent:
            world.query(f"UPDATE idempotency_keys SET created_at = NOW(6) {statement}")

    return claim


@pytest.mark.parametrize(("claimed", "removed"), [("LIMIT 0", 1024), ("ORDER BY id LIMIT 300", 724), ("", 0)])
def test_many_keys_go_in_batches_but_for_those_that_are_claimed_anew_meanwhile(
    world: World, claimed: str, removed: int
) -> None:
    """The first batch is full and loses none, some or all of its keys."""
    many_keys(world)
    claim = claimed_before(world, claimed)
    event.listen(world.engine, "before_cursor_execute", claim)
    counted = purge()["idempotency_keys"]
    event.remove(world.engine, "before_cursor_execute", claim)
    assert counted == removed
    assert world.query("SELECT COUNT(*) FROM idempotency_keys") == [(1024 - removed,)]


def test_published_events_go_after_a_month_and_unpublished_ones_never(world: World) -> None:
    for published, days in ((1, 31), (1, 29), (0, 31)):
        world.query(
            "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, created_at) "
            "VALUES ('x', :d, 'x', '{}', :p, NOW(6) - INTERVAL :d DAY)",
            p=published,
            d=days,
        )
    assert purge()["events"] == 1
    assert world.query("SELECT published, aggregate_id FROM outbox_events ORDER BY id") == [(1, "29"), (0, "31")]


def test_semaphores_unused_for_a_day_go_without_waiting_for_a_holder_at_work(world: World) -> None:
    for name, age_s in (("used long ago", 90_000), ("used just now", 0), ("held", 90_000)):
        world.query(
            "INSERT INTO semaphores (name, fencing_token) VALUES (:n, (UNIX_TIMESTAMP(NOW(6)) - :a) * 1000000)",
            n=name.ljust(32).encode(),
            a=age_s,
        )
    for name, age_s in (("held", -5), ("used long ago", 90_000)):
        world.query(
            "INSERT INTO semaphore_holders (name, token, expires_at) VALUES (:n, :t, NOW(6) - INTERVAL :a SECOND)",
            n=name.ljust(32).encode(),
            t=name.ljust(16)[:16].encode(),
            a=age_s,
        )
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    with engine.connect() as at_work:
        held = {"n": b"held".ljust(32), "t": b"held".ljust(16)}
        at_work.execute(text("SELECT 1 FROM semaphore_holders WHERE name = :n AND token = :t FOR UPDATE"), held)
        with session() as impatient:
            impatient.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
        removed = purge()
        at_work.rollback()
    assert (removed["semaphore_holders"], removed["semaphores"]) == (1, 1)
    kept = world.query("SELECT name FROM semaphores ORDER BY name")
    assert [bytes(row[0]).strip() for row in kept] == [b"held", b"used just now"]


def test_a_purged_key_is_as_new(acme: Matter) -> None:
    body = {"exhibitIds": acme.exhibits, "tags": ["Hot"]}
    acme.client.post("/taggings", body, key="k1")
    acme.world.query("UPDATE idempotency_keys SET created_at = NOW(6) - INTERVAL 25 HOUR")
    assert acme.client.post("/taggings", body, key="k1").is_replay
    purge()
    again = acme.client.post("/taggings", body, key="k1")
    assert (again.is_replay, again.json["created"]) == (False, 0)
