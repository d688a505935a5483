"""A list of files whose URLs do not fit into a response of Lambda is cut by bytes; clients go on with the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.contracts.imports.announcements import SINGLE_PUT_BYTES
from shell.aws import clients
from tests.support.api import client
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World

# "Lambda quotas": an invocation's response.
LIMIT = 6 * 1024 * 1024
# As long as Lambda's own are.
TOKEN = "Iq+/" * 375
CALLER = Client()


@pytest.fixture
def sizes(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each response as Lambda counts them, with the URLs of a function's credentials."""
    found: list[int] = []
    invoke = client.invoke

    def measure(function: str, event: dict[str, Any]) -> Any:
        answer = invoke(function, event)
        found.append(len(json.dumps(answer)))
        return answer

    monkeypatch.setattr(client, "invoke", measure)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    clients.s3.cache_clear()
    return found


@pytest.fixture(autouse=True)
def _forget_token() -> Any:
    yield
    clients.s3.cache_clear()


def create_volume() -> int:
    return int(CALLER.post("/volumes", {"case": "Case", "name": "VOL001"}).json["id"])


def build_files(character: str, size: int = 1, count: int = 1_000) -> list[dict[str, Any]]:
    """Files whose keys are nearly as long as S3 allows."""
    stem = character * (960 // len(character.encode()))
    return [{"path": f"{number:04}{stem}", "size": size, "sha256": "ab" * 32} for number in range(count)]


def declare(volume_id: int, files: list[dict[str, Any]], key: str | None = None) -> Reply:
    reply = CALLER.post(f"/volumes/{volume_id}/files", files, key)
    assert reply.status == 200, reply
    return reply


@pytest.mark.parametrize("character", ["é", "\U0001f600", '"'])
def test_responses_stay_below_the_limit_and_every_file_is_declared_once(
    world: World, sizes: list[int], character: str
) -> None:
    """All in one response, a thousand of them have 7 MB and more; the transaction was committed, the response lost."""
    volume_id, files = create_volume(), build_files(character)
    declared: list[str] = []
    while len(declared) < len(files):
        answer = declare(volume_id, files[len(declared) :]).json
        declared += [item["path"] for item in answer["items"]]
        assert answer["remaining"] == len(files) - len(declared)
    assert declared == [file["path"] for file in files]
    assert max(sizes) < LIMIT
    assert len(sizes) > 2
    [row] = world.query("SELECT COUNT(*), COUNT(DISTINCT path_hash) FROM volume_uploads")
    assert tuple(row) == (1_000, 1_000)


def test_one_file_of_a_thousand_parts_with_a_long_path_fits(sizes: list[int]) -> None:
    [file] = build_files("é", size=10**12, count=1)
    item = declare(create_volume(), [file]).json["items"][0]
    assert len(item["upload"]["parts"]) == 1_000
    assert max(sizes) < LIMIT


def test_a_repeated_request_declares_and_returns_the_same_files(world: World, sizes: list[int]) -> None:
    volume_id, files = create_volume(), build_files("é")
    first, again = (declare(volume_id, files, key="one") for _ in range(2))
    paths = [[item["path"] for item in reply.json["items"]] for reply in (first, again)]
    assert paths[0] == paths[1]
    assert (again.is_replay, again.json["remaining"]) == (True, first.json["remaining"])
    assert world.query("SELECT COUNT(*) FROM volume_uploads")[0][0] == len(paths[0])


def test_a_list_of_usual_paths_is_not_cut(sizes: list[int]) -> None:
    files = [{"path": f"NATIVES/0001/ACME{number:07}.docx", "size": 10} for number in range(1_000)]
    assert declare(create_volume(), files).json["remaining"] == 0


def test_a_path_that_is_no_path_is_refused_also_after_the_cut(world: World) -> None:
    files = [*build_files("é"), {"path": "../a", "size": SINGLE_PUT_BYTES}][1:]
    reply = CALLER.post(f"/volumes/{create_volume()}/files", files)
    assert reply.status == 400
    assert world.query("SELECT COUNT(*) FROM volume_uploads")[0][0] == 0
