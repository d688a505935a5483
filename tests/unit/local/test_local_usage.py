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


@pytest.mark.parametrize("url", ["nonsense", "mysql+pymysql://root@h:1/", "mysql://root@h:1/db", "sqlite:///x"])
def test_a_database_url_that_cannot_be_used_is_wrong_usage(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert main.main(["database-url"]) == 2
    assert "mysql+pymysql://" in capsys.readouterr().err
