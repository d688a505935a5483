"""Operations list what of a tenant runs, waits and failed, and the admin's retry publishes what was given up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from core.caller import Caller
from core.contracts.operations import FAILED_DAYS, LISTED, RETRIED
from shell import sns
from shell.db.session import session
from shell.operations import queries
from shell.operations.commands import retry_events
from shell.operations.statements import STATEMENTS
from shell.outbox.leases import MAX_REFUSALS, lease_events
from shell.outbox.relay import publish_pending
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.database.server_status import statements
from tests.support.exhibits.stored_cases import get_or_create_case
from tests.support.outbox.events import POISON, TENANT, FakeTopic, append

ADMIN = Client(TENANT, "ada")
EVENTS = "SELECT published, failures, tenant_id, refusal, dead_lettered_at FROM outbox_events ORDER BY id"
LATER = "UPDATE outbox_events SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE lease_until IS NOT NULL"


@pytest.fixture
def topic(world: World, monkeypatch: pytest.MonkeyPatch) -> FakeTopic:
    """The events topic; nothing else waits to be published."""
    made = FakeTopic()
    monkeypatch.setattr(sns, "sns", lambda: made)
    world.query("DELETE FROM outbox_events")
    return made


def give_up(world: World, topic: FakeTopic, *numbers: int) -> list[int]:
    """Events that a publisher was refused until it gave them up; their ids."""
    topic.failing |= dict.fromkeys(numbers, POISON)
    append(*numbers)
    for _ in range(MAX_REFUSALS):
        publish_pending()
        world.query(LATER)
    return [row.id for row in world.query("SELECT id FROM outbox_events WHERE published = 2 ORDER BY id")]


def retry(path: str = "/operations/events/retry", client: Client = ADMIN, key: str | None = None) -> Reply:
    return client.post(path, key=key)


def listed() -> dict[str, Any]:
    found: dict[str, Any] = ADMIN.get("/operations").json
    return found


def test_an_event_that_was_given_up_is_listed_with_its_refusal_and_to_its_tenant_alone(
    world: World, topic: FakeTopic
) -> None:
    append(1)
    [event_id] = give_up(world, topic, 2)
    [event] = listed()["events"]["items"]
    assert event.pop("createdAt") <= event.pop("deadLetteredAt")
    assert event == {
        "id": event_id,
        "eventType": "thing.happened",
        "target": "sns",
        "objectType": "thing",
        "objectId": "2",
        "attempts": MAX_REFUSALS,
        "refusals": MAX_REFUSALS,
        "refusal": "InvalidParameter",
    }
    assert listed()["events"]["total"] == 1
    stranger = Client("other", "eve")
    assert stranger.get("/operations").json["events"]["items"] == []
    assert retry(f"/operations/events/{event_id}/retry", stranger).status == 404
    assert retry(client=stranger).json["retried"] == 0
    assert [row.published for row in world.query(EVENTS)] == [1, 2]


def test_a_retry_publishes_the_event_once_more_and_is_an_activity(world: World, topic: FakeTopic) -> None:
    first, second = give_up(world, topic, 1, 2)
    topic.failing.clear()
    reply = retry(f"/operations/events/{first}/retry", key="one")
    assert reply.json == {"retried": 1, "left": 1, "leftIsLowerBound": False}
    assert retry(f"/operations/events/{first}/retry", key="one").is_replay
    again = retry(f"/operations/events/{first}/retry")
    assert (again.status, again.json["retried"]) == (200, 0)
    assert publish_pending() == 1
    assert topic.published == [1]
    # Published: not retried a second time.
    assert retry(f"/operations/events/{first}/retry").json["retried"] == 0
    assert retry().json == {"retried": 1, "left": 0, "leftIsLowerBound": False}
    assert publish_pending() == 1
    assert topic.published == [1, 2]
    acts = ADMIN.get("/activities?action=event.retried").json["items"]
    assert [(each["objectId"], each["summary"], each["userId"]) for each in acts] == [
        (second, {"events": 1}, "ada"),
        (first, {"events": 1}, "ada"),
    ]
    assert retry("/operations/events/999999999/retry").status == 404


def test_a_refusal_after_the_retry_gives_it_up_again(world: World, topic: FakeTopic) -> None:
    [event_id] = give_up(world, topic, 1)
    for _ in range(2):
        assert retry().json["retried"] == 1
        for _ in range(MAX_REFUSALS):
            publish_pending()
            world.query(LATER)
    [event] = listed()["events"]["items"]
    assert (event["id"], event["refusals"], event["attempts"]) == (event_id, MAX_REFUSALS, 3 * MAX_REFUSALS)


def test_of_retries_at_once_each_event_is_retried_by_one(world: World, topic: FakeTopic) -> None:
    ids = give_up(world, topic, *range(20))

    def retry_all(_: int) -> int:
        with session() as transaction:
            return retry_events(transaction, Caller(TENANT, "ada")).retried

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(retry_all, range(8))) == len(ids)
    topic.failing.clear()
    assert publish_pending() == len(ids)
    assert sorted(topic.published) == [*range(20)]


def test_a_retry_while_the_publisher_has_the_event_takes_nothing_from_it(world: World, topic: FakeTopic) -> None:
    """At the point at which the publisher has sent the event and has not recorded it."""
    [event_id] = give_up(world, topic, 1)
    topic.failing.clear()
    assert retry().json["retried"] == 1
    replies: list[Reply] = []
    topic.before = topic.once(lambda _numbers: replies.append(retry(f"/operations/events/{event_id}/retry")))
    assert publish_pending() == 1
    assert [reply.json["retried"] for reply in replies] == [0]
    assert topic.published == [1]
    assert [row.published for row in world.query(EVENTS)] == [1]


def test_an_event_that_is_given_up_while_it_is_retried_is_retried_or_listed(world: World, topic: FakeTopic) -> None:
    """The publisher records the refusal under its lease; a retry comes before or after it, and never between."""
    [event_id] = give_up(world, topic, 1)
    retry()
    lease = lease_events()
    assert [event.id for event in lease.events] == [event_id]
    assert retry().json["retried"] == 0, "leased: it is not given up"
    assert listed()["events"]["items"] == []


def test_counts_above_the_limit_are_lower_bounds(world: World, topic: FakeTopic) -> None:
    give_up(world, topic, 1)
    more = (
        "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, tenant_id, sequence) "
        "SELECT aggregate_type, seq, event_type, payload, 2, tenant_id, 1000 + seq FROM outbox_events, "
        "JSON_TABLE(CONCAT('[', REPEAT('1,', :n - 1), '1]'), '$[*]' COLUMNS (seq FOR ORDINALITY)) AS numbers"
    )
    world.query(more, n=RETRIED + LISTED)
    events = listed()["events"]
    assert (events["total"], events["totalIsLowerBound"], len(events["items"])) == (LISTED, True, LISTED)
    assert retry().json == {"retried": RETRIED, "left": LISTED, "leftIsLowerBound": True}
    assert retry().json == {"retried": LISTED + 1, "left": 0, "leftIsLowerBound": False}


def insert(world: World, table: str, case_id: int, **columns: Any) -> int:
    """A row of work, of the tenant."""
    values = {"tenant_id": TENANT, "case_id": case_id, "user_id": "ada", **columns}
    names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
    world.query(f"INSERT INTO {table} ({names}) VALUES ({places})", **values)
    return int(world.query(f"SELECT MAX(id) FROM {table}")[0][0])


def insert_import(world: World, case_id: int, status: str, **columns: Any) -> int:
    key = f"{status}{json.dumps(columns, default=str)}{case_id}"
    [(hashed,)] = world.query("SELECT SHA2(:key, 256)", key=key)
    known = {"bucket": "b", "object_key": "k", "size": 1, "file_name": f"{status}.dat", "status": status}
    return insert(world, "imports", case_id, upload_key=bytes.fromhex(hashed), **known, **columns)


@pytest.fixture
def works(world: World, topic: FakeTopic) -> Iterator[dict[str, int]]:
    """Work of each kind in each state, by a name; two failures are too old to be listed."""
    case_id = get_or_create_case(world, "One", TENANT)
    now, old = (world.query(f"SELECT NOW(6) - INTERVAL {days} DAY")[0][0] for days in (1, FAILED_DAYS + 1))
    made = {status: insert_import(world, case_id, status) for status in ("splitting", "waiting", "undoing", "held")}
    for name, columns in {
        "untouched": {"status": "running", "chunk_count": 3, "chunks_left": 3},
        "running": {"status": "running", "chunk_count": 3, "chunks_left": 2},
        "unread": {"status": "failed", "failure_code": "NOT_READ", "failure_message": "Why", "finished_at": now},
        "refused": {"status": "failed", "failure_code": "NO_ROWS", "failure_message": "Why", "finished_at": now},
        "old": {"status": "failed", "failure_code": "NOT_READ", "finished_at": old},
        "given up": {"status": "completed_with_rejections", "chunks_failed": 2, "finished_at": old},
        "undo failed": {"status": "undo_failed", "finished_at": old},
    }.items():
        made[name] = insert_import(world, case_id, **columns)
    volume = {"name": "VOL001", "prefix": "p"}
    made["volume"] = insert(world, "volumes", case_id, **volume, status="hashing")
    made["bad volume"] = insert(world, "volumes", case_id, **volume, status="failed", finished_at=now)
    export = {"kind": "tags", "format": "csv", "filters": "{}", "column_names": "[]", "highest_exhibit_id": 1}
    for status, ended in (("requested", None), ("running", None), ("failed", now)):
        made[f"{status} export"] = insert(world, "exports", case_id, **export, status=status, finished_at=ended)
    for status, ended in (("running", None), ("failed", old)):
        made[f"{status} job"] = insert(
            world, "tagging_jobs", case_id, request="{}", highest_id=1, status=status, finished_at=ended
        )
    production = {"volume": "V", "prefix": "P", "digits": 4, "numbering": "document", "selection": "{}"}
    for status in ("requested", "running", "needs_attention", "confirmed"):
        made[f"{status} production"] = insert(
            world, "productions", case_id, **production, properties="[]", status=status
        )
    yield made
    for table in ("imports", "volumes", "exports", "tagging_jobs", "productions"):
        world.query(f"DELETE FROM {table}")


def test_what_runs_waits_and_failed_is_in_its_group_newest_first(works: dict[str, int]) -> None:
    groups = {(each["state"], each["kind"]): [item["id"] for item in each["items"]] for each in listed()["groups"]}
    expected = {
        ("failed", "import"): {"unread", "refused", "given up"},
        ("failed", "undo"): {"undo failed"},
        ("failed", "volume"): {"bad volume"},
        ("failed", "export"): {"failed export"},
        ("failed", "production"): {"needs_attention production"},
        ("waiting", "import"): {"waiting", "untouched"},
        ("waiting", "export"): {"requested export"},
        ("waiting", "production"): {"requested production"},
        ("running", "import"): {"splitting", "running"},
        ("running", "undo"): {"undoing"},
        ("running", "volume"): {"volume"},
        ("running", "export"): {"running export"},
        ("running", "tagging_job"): {"running job"},
        ("running", "production"): {"running production"},
    }
    assert list(groups) == list(expected), "in this order"
    assert {key: set(ids) for key, ids in groups.items()} == {
        key: {works[name] for name in names} for key, names in expected.items()
    }
    items = {item["id"]: item for each in listed()["groups"] if each["kind"] == "import" for item in each["items"]}
    retriable = {name for name in ("unread", "refused", "given up") if items[works[name]]["canBeRetried"]}
    assert retriable == {"unread", "given up"}
    assert all(each["since"] for each in items.values())
    others = Client("other", "eve").get("/operations").json
    assert others["groups"] == []


def test_a_list_is_cut_and_says_so_and_takes_as_many_statements_as_an_empty_one(
    world: World, works: dict[str, int]
) -> None:
    case_id = get_or_create_case(world, "One", TENANT)
    for number in range(LISTED + 5):
        insert_import(world, case_id, "failed", finished_at=f"2999-01-01 00:{number // 60:02}:{number % 60:02}")
    failed = queries.get_operations(Caller(TENANT, "ada")).groups[0]
    assert (failed.total, failed.total_is_lower_bound, len(failed.items)) == (LISTED, True, LISTED)
    assert failed.items == sorted(failed.items, key=lambda each: (each.since, each.id), reverse=True)
    ours, theirs = (
        statements(world, partial(queries.get_operations, Caller(tenant, "ada"))) for tenant in (TENANT, "other")
    )
    assert ours == theirs


def test_every_part_of_every_list_reads_an_index_in_its_order(world: World, works: dict[str, int]) -> None:
    """On a server with rows of each status: no sort, and no row but those of the tenant and the status."""
    for table, statement in STATEMENTS.items():
        plan = world.query(f"EXPLAIN FORMAT=TRADITIONAL {statement.text}", tenant_id=TENANT)
        parts = [row for row in plan if row.table == "w"]
        assert parts, table
        assert {row.key for row in parts} <= {f"ix_{table}_operations", "ix_imports_chunks_failed"}, table
        assert not [row for row in parts if "filesort" in (row.Extra or "") or row.type == "ALL"], (table, parts)
    [first, second, *_] = world.query(f"EXPLAIN FORMAT=TRADITIONAL {queries._EVENTS.text}", tenant_id=TENANT)
    assert first.key == second.key == "ix_outbox_events_tenant"
    assert "filesort" not in f"{first.Extra} {second.Extra}"


def test_a_caller_who_is_limited_to_cases_is_refused(world: World) -> None:
    limited = Client(TENANT, "ada", cases=("One",))
    assert limited.get("/operations").status == 403
    assert retry(client=limited).status == 403
    assert retry("/operations/events/1/retry", limited).status == 403


def test_a_chunk_that_is_given_up_is_listed_until_its_import_is_retried(world: World, topic: FakeTopic) -> None:
    import_id = world.start(b"Control Number,Title\r\nA-1,One\r\n", name="given-up.csv")
    [(tenant,)] = world.query("SELECT tenant_id FROM imports WHERE id = :i", i=import_id)
    [message] = world.chunk_messages()
    world.give_up(message)
    admin = Client(tenant, "ada")
    [failed] = [each for each in admin.get("/operations").json["groups"] if each["state"] == "failed"]
    assert [(each["id"], each["chunksFailed"], each["canBeRetried"]) for each in failed["items"]] == [
        (import_id, 1, True)
    ]
    assert admin.post(f"/imports/{import_id}/retry").status == 200
    groups = admin.get("/operations").json["groups"]
    assert [(each["state"], each["items"][0]["id"]) for each in groups] == [("waiting", import_id)]
