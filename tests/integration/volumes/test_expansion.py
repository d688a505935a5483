"""The expansion of a zip: messages in any number and order, workers that are killed, two at one unit, late writes."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from core.statuses import VolumeStatus
from shell.aws import clients, new_objects
from shell.volumes import units
from tests.integration.volumes.volume_requests import (
    DAT,
    FILES,
    bodies,
    build_zip,
    deliver_dead_letter,
    drain,
    import_rows,
    process,
    request,
    run,
    state,
    upload_zip,
    versions,
    work_messages,
)
from tests.support.application.driver import Message, World, request_messages
from tests.support.application.handler_processes import Workers
from tests.support.faults.step_hooks import KilledError, at, at_every_step, kill, nothing
from tests.support.volumes.zip_bytes import DEFLATED, ENCRYPTED, STORED, SYMLINK, Entry, deflate
from tests.support.volumes.zip_bytes import build_zip as build_zip_by_hand

KEPT = {path: data for path, data in FILES.items() if ".DS_Store" not in path}


def listed(world: World, **body: Any) -> tuple[int, list[Message]]:
    """A zip whose directory was read, and the messages of its units."""
    volume_id = upload_zip(world)
    request(volume_id, **body)
    assert process(*work_messages())
    return volume_id, work_messages()


def expand(volume_id: int, messages: list[Message]) -> None:
    """Expand the units without the handler, which would report a death as a failure."""
    for each in messages:
        units.expand_unit(volume_id, each["unit_no"], each["generation"])


def check_whole(world: World, volume_id: int) -> None:
    """The volume is ready, each entry is one object of one version, and there is one import."""
    found = state(volume_id)
    assert (found.status, found.units_left, len(found.imports)) == (VolumeStatus.READY, 0, 1)
    assert bodies(world, volume_id) == KEPT
    assert set(versions(world, volume_id).values()) == {1}


@pytest.mark.parametrize("seed", range(4))
def test_messages_in_any_number_and_order_expand_a_zip_once(world: World, small_pages: None, seed: int) -> None:
    volume_id, messages = listed(world)
    assert len(messages) == 2
    repeated = messages * 3
    random.Random(seed).shuffle(repeated)
    assert process(*repeated)
    check_whole(world, volume_id)


@pytest.mark.slow
def test_a_worker_that_is_killed_at_any_step_leaves_a_unit_that_the_next_one_ends(
    world: World, small_pages: None
) -> None:
    volume_id, messages = listed(world)
    with at_every_step(world) as steps:
        expand(volume_id, messages)
    before = [(at(step, kill), nothing) for step in range(1, steps.count + 1)]
    for death in before + [(nothing, at(step, kill)) for step in steps.commits]:
        volume_id, messages = listed(world)
        with pytest.raises(KilledError), at_every_step(world, *death):
            expand(volume_id, messages)
        request_messages()
        assert process(*messages)
        check_whole(world, volume_id)
        assert {each["import_id"] for each in request_messages()} == {import_rows(world, volume_id)[0]["id"]}


@pytest.mark.parametrize("number", range(1, 4))
def test_a_worker_that_is_killed_between_two_objects_leaves_one_version_of_each(
    world: World, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    volume_id, messages = listed(world)
    monkeypatch.setattr(units, "PUTS_AT_ONCE", 1)
    written = iter(range(1, 100))
    put_new: Callable[..., Any] = new_objects.put_new

    def killed(*arguments: Any) -> Any:
        if next(written) == number + 1:
            raise KilledError
        return put_new(*arguments)

    monkeypatch.setattr(units, "put_new", killed)
    with pytest.raises(KilledError):
        units.expand_unit(volume_id, 1, messages[0]["generation"])
    monkeypatch.setattr(units, "put_new", put_new)
    assert len(versions(world, volume_id)) == number
    assert process(*messages)
    check_whole(world, volume_id)


def test_two_workers_at_one_unit_write_each_entry_once(world: World, workers: Workers) -> None:
    volume_id, (message,) = listed(world)
    assert workers.at_once("process_volume", [message] * 2).count(True) >= 1
    assert process(message)
    check_whole(world, volume_id)


def late_write(world: World, volume_id: int, message: Message) -> None:
    """A worker whose first write comes after another one has expanded the unit."""
    reached, go_on = threading.Event(), threading.Event()
    put_new: Callable[..., Any] = new_objects.put_new

    def waiting(*arguments: Any) -> Any:
        reached.set()
        assert go_on.wait(30)
        return put_new(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "put_new", waiting)
        late = threading.Thread(target=expand, args=(volume_id, [message]))
        late.start()
        assert reached.wait(30)
        patch.setattr(units, "put_new", put_new)
        assert process(message)
        go_on.set()
        late.join(30)


def test_a_late_second_write_makes_no_second_version(world: World) -> None:
    volume_id, (message,) = listed(world)
    late_write(world, volume_id, message)
    check_whole(world, volume_id)


def test_without_the_condition_a_late_second_write_makes_one(world: World) -> None:
    """The negative control."""
    volume_id, (message,) = listed(world)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shell.aws.new_objects.s3", lambda: Unconditional(clients.s3()))
        late_write(world, volume_id, message)
    assert set(versions(world, volume_id).values()) == {2}


class Unconditional:
    """A client that leaves If-None-Match out."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def put_object(self, **named: Any) -> Any:
        return self._client.put_object(**{name: value for name, value in named.items() if name != "IfNoneMatch"})


def test_another_object_at_an_entrys_place_is_not_adopted(world: World) -> None:
    volume_id, messages = listed(world)
    key = state(volume_id).prefix + "NATIVES/1.txt"
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"forged one")
    assert process(*messages)
    found = state(volume_id)
    assert (found.status, found.failure_code, found.imports) == (VolumeStatus.FAILED, "ENTRY_CONFLICT", [])
    assert "'NATIVES/1.txt'" in str(found.failure_message)


def test_a_unit_that_fails_in_every_attempt_fails_the_volume_which_can_be_retried(
    world: World, small_pages: None
) -> None:
    volume_id, (message, other) = listed(world)
    assert deliver_dead_letter(message)
    assert state(volume_id).status == VolumeStatus.EXPANDING
    assert deliver_dead_letter({**message, "redrive": 1})
    found = state(volume_id)
    assert (found.status, found.failure_code) == (VolumeStatus.FAILED, "NOT_EXPANDED")
    assert "DATA/load.dat" in str(found.failure_message)
    assert process(message, other), "messages of a volume that failed have no effect"
    assert state(volume_id).units_left == 2
    work_messages()
    run(volume_id)
    check_whole(world, volume_id)


def test_a_dead_letter_of_an_earlier_generation_fails_nothing(world: World) -> None:
    volume_id, (message,) = listed(world)
    assert deliver_dead_letter({**message, "redrive": 1, "generation": message["generation"] - 1})
    assert state(volume_id).status == VolumeStatus.EXPANDING


def test_a_listing_that_fails_in_every_attempt_fails_the_volume(world: World) -> None:
    volume_id = upload_zip(world)
    request(volume_id)
    (message,) = work_messages()
    assert deliver_dead_letter({**message, "redrive": 1})
    assert state(volume_id).failure_code == "NOT_LISTED"
    run(volume_id)
    check_whole(world, volume_id)


GOOD = Entry(b"load.dat", DAT)
BOMB = Entry(b"evil", b"", packed=deflate(bytes(5_000)), size=10, crc32=0)
ATTACKS = {
    "ZIP_ENCRYPTED": Entry(b"evil", b"x", flags=ENCRYPTED),
    "ZIP_LINK": Entry(b"evil", b"/etc/passwd", attributes=SYMLINK),
    "ZIP_PATH": Entry(b"../evil", b"x"),
    "ZIP_DUPLICATE": Entry(b"load.dat", b"evil"),
    "ZIP_METHOD": Entry(b"evil", b"x", method=12, packed=b"x"),
    "ZIP_OVERLAP": Entry(b"evil", b"x", offset=0),
    "ZIP_DAMAGED": Entry(b"evil", b"x", crc32=1),
    "ZIP_BOMB": BOMB,
}


@pytest.mark.parametrize("code", ATTACKS)
def test_an_attack_ends_with_the_entry_named_and_nothing_imported(world: World, code: str) -> None:
    volume_id = upload_zip(world, build_zip_by_hand([GOOD, ATTACKS[code]]))
    found = run(volume_id)
    assert (found.status, found.failure_code, found.imports) == (VolumeStatus.FAILED, code, [])
    assert ATTACKS[code].name.decode() in str(found.failure_message) or code == "ZIP_OVERLAP"
    assert request_messages() == []


def test_a_path_that_is_too_long_with_the_prefix_of_its_volume_fails_the_volume(world: World) -> None:
    name = "/".join("d" * 200 for _ in range(5))
    found = run(upload_zip(world, build_zip_by_hand([GOOD, Entry(name.encode(), b"x")])))
    assert (found.status, found.failure_code, found.units) == (VolumeStatus.FAILED, "ZIP_PATH", 0)
    assert "Its path has more than" in (found.failure_message or "")


def test_an_entry_whose_name_is_not_its_path_is_expanded(world: World) -> None:
    entries = [GOOD, Entry("Ärger\\1.txt".encode("cp850"), b"one", method=STORED), Entry(b"a\\b.txt", b"two", DEFLATED)]
    volume_id = upload_zip(world, build_zip_by_hand(entries))
    run(volume_id, zipNames="cp850")
    assert bodies(world, volume_id) == {"load.dat": DAT, "Ärger/1.txt": b"one", "a/b.txt": b"two"}


def test_a_file_that_is_no_zip_fails_the_volume(world: World) -> None:
    assert run(upload_zip(world, b"not a zip")).failure_code == "ZIP_DAMAGED"


def test_the_version_that_was_sealed_is_expanded(world: World) -> None:
    volume_id = upload_zip(world)
    request(volume_id)
    key = world.query("SELECT archive_key FROM volumes WHERE id = :id", id=volume_id)[0][0]
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=build_zip({"other.dat": b"forged"}))
    drain(volume_id)
    check_whole(world, volume_id)
