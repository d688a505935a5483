"""`exhibit-ingest cases`: a case is renamed, closed, held and requested to be purged, and each exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.cli.main import main
from exhibit_ingest.errors import WrongUsageError
from tests.support.exhibits.stocked_stack import StockedStack

Capsys = pytest.CaptureFixture[str]
NAME, RENAMED = "Doe v. Roe", "Doe v. Roe LLP"
DAY = "2099-01-31"


def run(stocked: StockedStack, capsys: Capsys, *arguments: str) -> tuple[int, Any]:
    code = main(["cases", *arguments, "--json"], stocked.workspace)
    return code, json.loads(capsys.readouterr().out)


def say(stocked: StockedStack, capsys: Capsys, *arguments: str) -> tuple[int, str]:
    code = main(["cases", *arguments], stocked.workspace)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def test_a_case_takes_each_action_and_the_list_says_its_status(
    stocked: StockedStack, capsys: Capsys, tmp_path: Path
) -> None:
    case_id = stocked.request("POST", "/cases", {"name": NAME})["id"]
    code, renamed = run(stocked, capsys, "rename", NAME, RENAMED)
    assert (code, renamed["case"]) == (
        0,
        {"id": case_id, "name": RENAMED, "status": "open", "hold": None, "purge": None},
    )
    assert run(stocked, capsys, "close", RENAMED)[1]["case"]["status"] == "closed"
    file = tmp_path / "a.csv"
    file.write_bytes(b"Control Number\r\nA-1\r\n")
    assert main(["import", str(file), "--case", RENAMED], stocked.workspace) == 1
    assert "closed" in "".join(capsys.readouterr())
    held = run(stocked, capsys, "hold", RENAMED, "--reason", "Order")[1]["case"]
    assert (held["status"], held["hold"]["reason"]) == ("closed", "Order")
    refused = say(stocked, capsys, "purge", RENAMED, "--confirm", RENAMED)
    assert (refused[0], "legal hold" in refused[1]) == (1, True)
    listed = next(each for each in run(stocked, capsys)[1]["cases"] if each["name"] == RENAMED)
    assert (listed["status"], listed["hold"]["reason"], listed["purge"]) == ("closed", "Order", None)
    assert "closed, on hold" in say(stocked, capsys)[1]
    assert run(stocked, capsys, "lift", RENAMED)[1]["case"]["hold"] is None
    code, purge = say(stocked, capsys, "purge", RENAMED, "--confirm", RENAMED, "--after", DAY)
    assert (code, f"purge from {DAY}" in purge, "cases withdraw" in purge) == (0, True, True)
    assert say(stocked, capsys, "reopen", RENAMED)[0] == 1
    assert run(stocked, capsys, "withdraw", RENAMED)[1]["case"]["purge"] is None
    assert run(stocked, capsys, "reopen", RENAMED)[1]["case"]["status"] == "open"


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (["close"], "CASE"),
        (["rename", "a"], "NEW_NAME"),
        (["hold", "a"], "--reason"),
        (["purge", "a"], "--confirm"),
        (["close", "a", "--reason", "x"], "--reason"),
        (["lift", "a", "--after", DAY], "--after"),
        (["list", "a"], "CASE"),
        (["purge", "a", "--confirm", "a", "--after", "tomorrow"], "2027-01-31"),
        (["close", "No such case"], "There is no case"),
    ],
)
def test_wrong_usage_and_a_case_that_there_is_not_end_with_2(
    stocked: StockedStack, capsys: Capsys, arguments: list[str], needs: str
) -> None:
    code, printed = say(stocked, capsys, *arguments)
    assert (code, needs in printed) == (WrongUsageError.exit_code, True), printed
