"""Commands in messages can be pasted: they begin with the program as it was started, and their arguments are quoted."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.program import PROGRAM, format_command, is_program, quote
from exhibit_ingest.undo.output import describe_stopped
from local.stack.options import REPOSITORY

INSTALLED = Path(sys.executable).with_name(PROGRAM)
_COMMANDS = next(each.choices for each in build_parser()._actions if each.dest == "command")
# A subcommand after the program's name: what could be pasted.
_PASTED = re.compile(rf"{PROGRAM} (?:{'|'.join(_COMMANDS or ())})\b")


def list_literals(module: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every literal that is not a docstring."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, scopes) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def list_pasted(folder: Path) -> list[str]:
    """Places with a command that is not made by `format_command`; the parser starts those of help texts as the user."""
    modules = (each for each in folder.rglob("*.py") if not each.name.endswith("arguments.py"))
    return [f"{each}:{line}" for each in modules for line, text in list_literals(each) if _PASTED.search(text)]


def test_no_message_writes_a_command_without_the_one_function() -> None:
    assert list_pasted(REPOSITORY / "exhibit_ingest") == []


def test_a_command_in_a_message_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""exhibit-ingest undo"""\nX = f"run: exhibit-ingest undo {1}"\n')
    assert list_pasted(tmp_path) == [f"{tmp_path / 'a.py'}:2"]


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        (".venv/bin/exhibit-ingest", ".venv/bin/exhibit-ingest"),
        ("./my folder/exhibit-ingest", "'./my folder/exhibit-ingest'"),
        (str(REPOSITORY / "local/command/demo.py"), None),
    ],
)
def test_a_command_begins_as_the_program_was_started(
    monkeypatch: pytest.MonkeyPatch, started: str, expected: str | None
) -> None:
    monkeypatch.setattr(sys, "argv", [started])
    monkeypatch.chdir(INSTALLED.parents[2])
    here = expected or str(INSTALLED.relative_to(Path.cwd()))
    assert format_command("undo", "12", "--tenant", "firm a") == f"{here} undo 12 --tenant 'firm a'"


def test_a_program_on_the_path_is_named_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(INSTALLED.parent))
    monkeypatch.setattr(sys, "argv", [str(INSTALLED)])
    assert format_command("stop") == "exhibit-ingest stop"


def test_what_is_printed_runs_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["-m"])
    done = subprocess.run(shlex.split(format_command("--version")), capture_output=True, text=True, check=True)
    assert done.stdout.startswith(PROGRAM)


def test_help_and_wrong_usage_show_commands_that_can_be_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/exhibit-ingest"])
    help_text = build_parser().format_help()
    assert "  .venv/bin/exhibit-ingest undo 12 --dry-run\n" in help_text
    assert len(re.findall(PROGRAM, help_text)) == len(re.findall(rf"\.venv/bin/{PROGRAM}", help_text))


def test_an_undo_whose_stack_ended_is_run_again_and_the_file_not_imported() -> None:
    message = describe_stopped(12, ["--tenant", "firm a"])
    assert "Do not import the file again" in message
    assert message.endswith(format_command("undo", "12", "--tenant", "firm a"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["exhibit-ingest", "login", "https://a.example"], "exhibit-ingest login https://a.example"),
        (
            ["C:\\Program Files\\exhibit-ingest.exe", "--stack", "a b"],
            '"C:\\Program Files\\exhibit-ingest.exe" --stack "a b"',
        ),
    ],
)
def test_a_command_is_quoted_for_the_shells_of_windows(words: list[str], line: str) -> None:
    assert quote(words, is_windows=True) == line


@pytest.mark.parametrize(
    ("path", "is_it"),
    [
        ("C:\\Tools\\exhibit-ingest.exe", True),
        ("exhibit-ingest.EXE", True),
        ("/usr/bin/exhibit-ingest", True),
        ("/usr/bin/exhibit-ingest-old", False),
        ("pytest", False),
    ],
)
def test_the_program_is_known_by_its_name_on_every_system(path: str, is_it: bool) -> None:
    assert is_program(path) == is_it
