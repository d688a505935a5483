"""Which command lines are understood, and what is said of the others and by --help."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import UploadRefusedError
from core.imports.uploads import parse_upload
from exhibit_ingest.cli import main
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.importing.checks import check_case, check_load_file, check_name
from local.command import commands
from tests.unit.exhibit_ingest.played_sessions import open_session


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["import"],
        ["import", "nosuch.dat", "--case", "a"],
        ["import", ".", __file__, "--case", "a"],
        ["import", __file__],
        ["import", __file__, "--case", "a/b"],
        ["import", __file__, "--case", " "],
        ["import", __file__, "--case", ".."],
        ["import", __file__, "--case", "Smith "],
        ["import", __file__, "--case", "é" * 256],
        ["import", __file__, "--case", "𝔖" * 254],
        ["import", __file__, "--case", "a", "--tenant", "t" * 65],
        ["import", __file__, "--case", "a", "--tenant", ""],
        ["import", __file__, "--case", "a", "--workers", "0"],
        ["import", __file__, "--case", "a", "--workers", "many"],
        ["import", __file__, "--case", "a", "--delimiter", "nonsense"],
        ["import", __file__, "--case", "a", "--encoding", "klingon"],
        ["import", __file__, "--case", "a", "--mapping", "nosuch.json"],
        ["import", __file__, "--case", "a", "--corrects", "0"],
        ["import", __file__, __file__, "--case", "a", "--corrects", "7"],
        ["import", __file__, "--case", "a", "--corrects", "7", "--profile", "p"],
        ["import", __file__, "--case", "a", "--user", "u/v"],
        ["import", __file__, "--case", "a", "--limit-rate", "fast"],
        ["import", __file__, "--case", "a", "--expect", "rows=3"],
        ["export"],
        ["cases", "--ten", "a"],
        ["cases", "--tenant", "a/b"],
        ["imports"],
        ["imports", "--case", "a/b"],
        ["documents"],
        ["documents", "--case", " "],
        ["documents", "--case", "a", "--limit", "0"],
        ["documents", "--case", "a", "--no-native", "x"],
        ["history", "--case", "a"],
        ["history", "A-1"],
        ["history", "A-1", "--case", "a/b"],
        ["history", "A-1", "--case", "a", "--limit", "0"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "http"],
        ["serve", "--workers", "0"],
        ["volume", "0", "folder"],
        ["token", "--tenant", "acme"],
        ["token", "--tenant", "a/b", "--user", "ada"],
        ["token", "--tenant", "acme", "--user", " "],
        ["token", "--tenant", "t" * 65, "--user", "ada"],
        ["token", "--tenant", "acme", "--user", "u" * 256],
        ["token", "--tenant", "acme", "--user", "𝔖"],
        ["token", "--tenant", "[acme]", "--user", "ada"],
        ["token", "--tenant", "acme", "--user", "ada", "--role", "owner"],
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
    if arguments[:1] == ["import"]:
        assert main.main([*arguments, "--json"]) == 2
        printed = capsys.readouterr()
        answer = json.loads(printed.out)
        assert (answer["imports"], bool(answer["error"]), printed.err) == ([], True, "")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main.main(["--version"])
    assert capsys.readouterr().out == f"exhibit-ingest {version('exhibit-ingest')}\n"


@pytest.mark.parametrize("url", ["nonsense", "mysql+pymysql://root@h:1/", "mysql://root@h:1/db", "sqlite:///x"])
def test_a_database_url_that_cannot_be_used_is_wrong_usage(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert main.main(["database-url"]) == 2
    assert "mysql+pymysql://" in capsys.readouterr().err


def accepts(check: Callable[[], object]) -> bool:
    try:
        check()
    except (WrongUsageError, UploadRefusedError):
        return False
    return True


@given(st.text(st.sampled_from(" \t\n\x85.aé𝔖\u2028\udcff/"), max_size=4) | st.integers(0, 300).map("é".__mul__))
@example("a.csv")
def test_a_name_is_wrong_usage_where_the_functions_would_refuse_it(name: str) -> None:
    key = f"imports/t/{quote_plus(name, errors='surrogateescape')}/u/a.dat"
    record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": {"key": key}}}
    refused = "/" in name or "\udcff" in name or not name.isprintable() or not accepts(lambda: parse_upload(record))
    assert accepts(lambda: check_name("case", name)) is not refused


@pytest.mark.parametrize("name", [" .csv", "a.csv ", "a\nb.csv", os.fsdecode(b"a\xff.csv")])
def test_a_file_that_cannot_be_uploaded_under_its_name_is_wrong_usage(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.touch()
    with pytest.raises(
        WrongUsageError, match=r"the name of the file '.*' (has|is|begins) .*; rename the file"
    ) as error:
        check_load_file(file, "c")
    assert str(error.value).isprintable()


def find_case(tmp_path: Path, names: list[str], case: str, *, is_overlay: bool = False) -> None:
    """Check a case of a tenant which has the case itself, if it is one of the names, and the others as similar ones."""
    described = [{"name": name} for name in names]
    found = {"exact": {"name": case} if case in names else None, "similar": described}
    session, api = open_session(lambda *_: found, tmp_path)
    check_case(session, case, is_overlay=is_overlay, may_create=False)
    assert [path for _, path, _ in api.requests] == [f"/cases/similar?name={quote_plus(case)}"]


@pytest.mark.parametrize(
    ("names", "advice"), [(["Acme."], "similar names: 'Acme.'"), ([], "listed by: .*exhibit-ingest cases --stack acme")]
)
def test_an_overlay_of_a_case_that_does_not_exist_is_wrong_usage(tmp_path: Path, names: list[str], advice: str) -> None:
    with pytest.raises(WrongUsageError, match=f"no case 'Acme'.*--mode append_overlay.*{advice}"):
        find_case(tmp_path, names, "Acme", is_overlay=True)
    find_case(tmp_path, [*names, "Acme"], "Acme", is_overlay=True)


def test_a_misspelt_case_is_wrong_usage_and_a_new_one_is_not(tmp_path: Path) -> None:
    names = ["SMITH V JONES", "Smith v. Jones"]
    with pytest.raises(
        WrongUsageError, match=r"'Smith v Jones'.*'SMITH V JONES'; 'Smith v\. Jones'\..*--create-case"
    ) as error:
        find_case(tmp_path, names, "Smith v Jones")
    assert str(error.value).count("'") == 2 * 3
    find_case(tmp_path, names, "Smith v. Jones")
    find_case(tmp_path, [], "Doe")


def test_a_check_does_not_compare_bates_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["check", __file__, "--case", "a", "--expect", "bates=A1-A9"]) == 2
    assert "a check does not know the Bates numbers" in capsys.readouterr().err


def test_a_console_that_is_not_built_says_how_its_link_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "REPOSITORY", tmp_path)
    described = commands._describe_console(Mock(console_url="http://127.0.0.1:8700/console/#key"))
    assert described == "not built: run `make console`, then this command again, which prints its link"
