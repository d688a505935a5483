"""Which command lines are understood, and what is said of the others and by --help."""

from __future__ import annotations

from typing import Any

import pytest

from local.cli import main


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["import"],
        ["import", "nosuch.dat", "--case", "a"],
        ["import", ".", "--case", "a"],
        ["import", __file__],
        ["import", __file__, "--case", "a/b"],
        ["import", __file__, "--case", " "],
        ["import", __file__, "--case", ".."],
        ["import", __file__, "--case", "a", "--tenant", ""],
        ["import", __file__, "--case", "a", "--workers", "0"],
        ["import", __file__, "--case", "a", "--workers", "many"],
        ["import", __file__, "--case", "a", "--delimiter", "nonsense"],
        ["import", __file__, "--case", "a", "--encoding", "klingon"],
        ["import", __file__, "--case", "a", "--mapping", "nosuch.json"],
        ["export"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "http"],
        ["serve", "--workers", "0"],
        ["token", "--tenant", "acme"],
        ["token", "--tenant", "a/b", "--user", "ada"],
        ["token", "--tenant", "acme", "--user", " "],
    ],
)
def test_wrong_usage_exits_with_2_and_says_so_on_standard_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: Any = main.main(arguments)
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr()
    assert code == 2
    assert "error:" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "abc"], "--port: 'abc' is not a number from 1 to 65535, or 0 for any free port"),
        (["--workers", "65"], "--workers: '65' is not a number from 1 to 64"),
    ],
)
def test_a_number_that_is_none_is_told_what_was_wanted(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main.main(["serve", *arguments])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("serve", ("Authorization: Bearer", "an hour", "DATABASE_URL", "SQS")),
        ("token", ("Authorization: Bearer", "an hour", "user that changes are recorded under")),
        ("database-url", ("is started", "exhibit-ingest stop", "DATABASE_URL")),
        ("stop", ("database-url", "Imported documents are kept")),
        ("reset", ("all imported documents", "reports")),
    ],
)
def test_every_command_says_what_it_does(
    command: str, said: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main.main([command, "--help"])
    printed = capsys.readouterr().out
    assert [words for words in said if words not in printed] == []


@pytest.mark.parametrize("url", ["nonsense", "mysql+pymysql://root@h:1/", "mysql://root@h:1/db", "sqlite:///x"])
def test_a_database_url_that_cannot_be_used_is_wrong_usage(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert main.main(["database-url"]) == 2
    assert "mysql+pymysql://" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["import", "--help"]])
def test_help_teaches_by_example(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main.main(arguments)
    assert left.value.code == 0
    assert "exhibit-ingest import production.dat --case" in capsys.readouterr().out
