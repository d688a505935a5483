"""What arrives in the bucket during a purge is destroyed too, and what S3 refuses to delete is stated."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.purges.phases import PurgePhase
from shell.aws import all_versions, clients
from shell.purges import run
from shell.settings import settings
from tests.integration.purges.test_purged_cases import list_keys, matches
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.purges.filled_cases import TENANT, FilledCase, fill_case, put_object
from tests.support.purges.runs import drive, end_pauses, has_ended, purge, request

PHASES = "SELECT phase, TIMESTAMPDIFF(SECOND, NOW(6), next_at) FROM case_purges"


def put_late(case: FilledCase) -> None:
    """What a URL that was signed before the purge still allows."""
    put_object(case, f"files/{TENANT}/{case.name}/late.txt", "version", "upload")


def test_each_look_destroys_what_arrived_and_only_one_that_finds_nothing_is_the_last(world: World) -> None:
    case = fill_case(world, 1, rows=1)
    request(world, 1)
    run.take_purges_on()
    [(phase, pause_s)] = world.query(PHASES)
    assert phase == PurgePhase.OBJECTS_AGAIN
    assert pause_s > settings().upload_url_seconds
    put_late(case)
    end_pauses(world)
    run.take_purges_on()
    [(phase, pause_s)] = world.query(PHASES)
    assert phase == PurgePhase.LAST_LOOK
    assert pause_s > 6 * 86_400
    put_late(case)
    end_pauses(world)
    run.take_purges_on()
    assert has_ended(world, 1)
    assert matches(drive(world, 1), case)
    assert not any(case.canary in key for key in list_keys(world))


LOCKED = "locked.txt"


class RefusingS3:
    """S3's client, which refuses to delete one key as S3 does under Object Lock; moto deletes locked versions."""

    UNTIL = datetime.now(UTC) + timedelta(days=30)

    def __init__(self) -> None:
        self._client = clients.s3()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def head_object(self, **named: Any) -> dict[str, Any]:
        """What S3 says of a version, with the lock of that key."""
        lock = {"ObjectLockRetainUntilDate": self.UNTIL} if named["Key"].endswith(LOCKED) else {}
        return {**self._client.head_object(**named), **lock}

    def delete_objects(self, *, Bucket: str, Delete: dict[str, Any]) -> dict[str, Any]:
        """Delete the others, and refuse that key."""
        locked = [each for each in Delete["Objects"] if each["Key"].endswith(LOCKED)]
        others = [each for each in Delete["Objects"] if each not in locked]
        answer: Any = self._client.delete_objects(Bucket=Bucket, Delete={"Objects": others}) if others else {}
        return {"Errors": [*answer.get("Errors", []), *({**each, "Code": "AccessDenied"} for each in locked)]}


def test_versions_under_object_lock_are_stated_with_their_date(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_versions, "s3", RefusingS3)
    case = fill_case(world, 1, rows=1)
    key = f"volumes/{TENANT}/{case.name}/1/{LOCKED}"
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"held")
    certificate = purge(world, 1)
    assert matches(certificate, case), "what is not destroyed is not counted"
    assert certificate.locked is not None
    assert (certificate.locked.versions, certificate.locked.bytes) == (1, 4)
    assert certificate.locked.until is not None
    assert abs(certificate.locked.until.replace(tzinfo=UTC) - RefusingS3.UNTIL) < timedelta(seconds=1)
    assert key in list_keys(world)


def test_the_api_has_the_certificate_during_and_after_the_purge_for_its_tenant_alone(world: World) -> None:
    fill_case(world, 1, rows=1)
    client, other = Client(TENANT), Client("other")
    assert client.get("/cases/1/certificate").status == 404
    request(world, 1)
    run.take_purges_on()
    early = client.get("/cases/1/certificate")
    assert early.status == 200
    assert early.json["endedAt"] is None
    assert early.json["nextAt"] is not None
    drive(world, 1)
    final = client.get("/cases/1/certificate").json
    [stored] = world.query("SELECT details FROM case_changes WHERE case_id = 1 AND kind = 'purged'")
    assert json.loads(stored.details) == final
    assert final["endedAt"] is not None
    assert final["requestedBy"] == "user-1"
    assert {each["table"] for each in early.json["rows"]} < {each["table"] for each in final["rows"]}
    assert "dead letters" in " ".join(each["what"] for each in final["remains"])
    assert other.get("/cases/1/certificate").status == 404
    assert client.get("/cases/1/certificate").json == final
    # So it is where the tenant was moved to: the row of the purge stays where that was.
    world.query("DELETE FROM case_purges")
    assert client.get("/cases/1/certificate").json == final
    assert other.get("/cases/1/certificate").status == 404
