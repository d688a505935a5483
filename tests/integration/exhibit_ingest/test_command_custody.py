"""`exhibit-ingest custody` and `devices`, beside a `serve` that all tests of this module share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from local.command.workspace import Workspace
from tests.support.application.served_commands import Commands, serve

pytestmark = pytest.mark.slow

ADA, GRACE = "Ada Lovelace", "Grace Hopper"
BEGIN, LATER = "2026-11-21T09:00+01:00", "2026-11-22T10:30:00Z"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[Workspace]:
    with serve(tmp_path_factory.mktemp("state"), schema_url, "custody") as workspace:
        yield workspace


@pytest.fixture
def commands(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> Commands:
    """The command, and custodians of the case acme; Ada is one of the case other, too."""
    made = Commands(workspace, capsys)
    with made.api() as api:
        for case, name in (("acme", ADA), ("acme", GRACE), ("other", ADA)):
            api.request("POST", "/custodians", {"case": case, "name": name})
    return made


def done(commands: Commands, *arguments: object) -> dict[str, Any]:
    code, document = commands.read("custody", *arguments)
    assert code == 0, document
    return document


def failed(commands: Commands, *arguments: object) -> tuple[int, str]:
    code, document = commands.read("custody", *arguments)
    assert code != 0, document
    return code, document["error"]


def times_of(periods: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(each["custodian"], each["begin"], each["end"], each["note"]) for each in periods]


def test_a_device_has_a_label_until_that_is_removed(commands: Commands) -> None:
    code, printed = commands.read("devices", 300, "--label", "Ada's laptop")
    assert (code, printed["device"]["device_id"], printed["device"]["label"]) == (0, 300, "Ada's laptop")
    assert [each["device_id"] for each in commands.read("devices", "--search", "laptop")[1]["devices"]] == [300]
    code, printed = commands.read("devices", 300, "--label", "")
    assert (code, printed["device"]["label"]) == (0, None)
    code, printed = commands.read("devices", 300)
    assert (code, printed["error"]) == (
        2,
        "To name a device, give DEVICE and --label; `devices` without them lists all.",
    )


def test_a_device_is_held_transferred_ended_and_every_change_is_listed(commands: Commands) -> None:
    [held] = done(commands, "hold", 100, "--begin", BEGIN, "--custodian", ADA, "--case", "acme")["periods"]
    assert (held["device_id"], held["version"]) == (100, 1)
    moved = done(commands, "transfer", 100, "--to", GRACE, "--at", LATER, "--note", "by courier")
    assert (moved["ended"]["id"], moved["begun"]["custodian"]) == (held["id"], GRACE)
    [device] = commands.read("devices", "--search", "100")[1]["devices"]
    assert (device["is_held"], device["holder"], device["periods"]) == (True, GRACE, 2)
    ended = done(commands, "change", moved["begun"]["id"], "--end", "2026-11-23T18:00Z", "--if-version", 1)["period"]
    assert ended["version"] == 2
    assert times_of(done(commands, "show", 100)["periods"]) == [
        (ADA, "2026-11-21T08:00:00Z", "2026-11-22T10:30:00Z", None),
        (GRACE, "2026-11-22T10:30:00Z", "2026-11-23T18:00:00Z", "by courier"),
    ]
    changes = done(commands, "history", 100)["changes"]
    assert [(each["action"], each["version"], each["custodian"]) for each in changes] == [
        *[("added", 1, ADA), ("changed", 2, ADA), ("added", 1, GRACE), ("changed", 2, GRACE)]
    ]
    assert {each["user_name"] for each in changes} != {None}


def test_tables_have_what_people_look_for(commands: Commands) -> None:
    done(commands, "hold", 200, "--begin", BEGIN, "--custodian", GRACE, "--note", "in the\u202e safe")
    code, table, _ = commands.run("custody", "show", 200)
    assert code == 0
    assert all(text in table for text in (GRACE, "2026-11-21T08:00:00Z", "open", "in the\ufffd safe"))
    assert "\u202e" not in table
    for arguments in (("custody", "history", 200), ("devices",), ("custody", "show", "--case", "acme")):
        code, table, _ = commands.run(*arguments)
        assert (code, GRACE in table) == (0, True), arguments
    held = commands.read("custody", "show", "--case", "other")[1]["devices"]
    assert 200 not in {each["device_id"] for each in held}


def test_periods_of_a_file_are_recorded_all_or_none(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "periods.csv"
    first = f"300,{BEGIN},{LATER},{GRACE},from the car"
    file.write_text(f"Device,Begin,End,Custodian,Note\n{first}\n300,2026-11-22T10:00Z,,,\n", encoding="utf-8-sig")
    code, refused = commands.read("custody", "hold", "--csv", file)
    [conflict] = refused["conflicts"]
    assert (code, conflict["element"], conflict["other_element"]) == (1, 1, 0)
    assert done(commands, "show", 300)["periods"] == []
    _, _, said = commands.run("custody", "hold", "--csv", file)
    assert "record 2, device 300: overlaps record 1 from 2026-11-21T08:00:00Z to 2026-11-22T10:30:00Z" in said
    file.write_text(f"device,begin,end,custodian,note\n{first}\n301,{BEGIN},,,\n")
    assert len(done(commands, "hold", "--csv", file)["periods"]) == 2
    assert times_of(done(commands, "show", 301)["periods"]) == [(None, "2026-11-21T08:00:00Z", None, None)]


def test_what_was_changed_meanwhile_is_not_overwritten(commands: Commands) -> None:
    [held] = done(commands, "hold", 400, "--begin", BEGIN)["periods"]
    done(commands, "change", held["id"], "--custodian", GRACE)
    code, message = failed(commands, "change", held["id"], "--note", "mine", "--if-version", 1)
    assert (code, "it has version 2 by now, not 1" in message) == (1, True)
    assert times_of(done(commands, "show", 400)["periods"])[0][3] is None
    code, message = failed(commands, "transfer", 400, "--to", GRACE, "--at", "2026-11-20T00:00Z")
    assert (code, "Device 400 is not held at 2026-11-20T00:00:00Z" in message) == (1, True)
    code, message = failed(commands, "hold", 400, "--begin", BEGIN)
    assert (code, "Overlaps: 1" in message) == (1, True)


def test_a_custodian_is_found_or_added_by_name_and_never_guessed(commands: Commands) -> None:
    hold = ("hold", 500, "--begin", BEGIN)
    code, message = failed(commands, *hold, "--custodian", ADA)
    assert (code, message) == (2, "2 cases have a custodian 'Ada Lovelace': 'acme', 'other'. Say which with --case.")
    code, message = failed(commands, *hold, "--custodian", "Hopper")
    assert (code, "Similar names: 'Grace Hopper'." in message) == (2, True)
    code, _ = failed(commands, *hold, "--custodian", "Emmy Noether", "--case", "nosuch", "--new-custodian")
    assert (code, done(commands, "show", 500)["periods"]) == (2, [])
    new = done(commands, *hold, "--custodian", "Emmy Noether", "--case", "acme", "--new-custodian")
    assert new["periods"][0]["custodian"] == "Emmy Noether"
    again = done(commands, "transfer", 500, "--to", "emmy noether")
    assert again["begun"]["custodian_id"] == new["periods"][0]["custodian_id"]


def test_wrong_usage_is_said_before_anything_is_recorded(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "periods.csv"
    file.write_text("device,begin\n1,2026-11-21T15:00\n")
    for arguments in (
        ("hold", 600),
        ("hold", 600, "--begin", "2026-11-21T15:00"),
        ("hold", 600, "--begin", "yesterday"),
        ("hold", 600, "--csv", file),
        ("hold", "--csv", file),
        ("hold", "--csv", tmp_path / "lost"),
        ("hold", 0, "--begin", BEGIN),
        ("show",),
        ("show", 1, "--case", "acme"),
        ("show", "--case", "nosuch"),
        ("change", 1),
        ("change", 1, "--open", "--end", LATER),
        ("change", 10**9, "--open"),
        ("transfer", 600),
    ):
        assert failed(commands, *arguments)[0] == 2, arguments
    assert failed(commands, "hold", "--csv", file)[1].startswith(f"{file}, line 2: '2026-11-21T15:00' has no time zone")
