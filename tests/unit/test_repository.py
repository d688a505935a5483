"""What must not be committed: addresses of package hosts, private folders, unpinned packages, large files.

Looks at what git tracks; a file that is not added yet is looked at once it is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000

# Written so that no pattern matches its own source.
PACKAGE_HOST = re.compile(
    r"\bpypi\.(?:org|python)|\bpythonhosted\.org|\bregistry\.npmjs\.org|\.jfrog\.io|https?://\S+/simple\b"
    r"|index[-_]url['\"]?\s*[=\s]\s*['\"]?(?:https?|file):",
    re.IGNORECASE,
)
OWN_FOLDER = re.compile(r"(?<![\w.$}])/(?:home|Users)/[\w.-]+|(?<![\w.$}])/roo[t]/|\b[A-Za-z]:\\{1,2}Users\\")
INDEX_OPTION = re.compile(r"^\s*(?:-i|-f|--index[-]url|--extra-index[-]url|--find[-]links)\b", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}(?=\s|$)")
PINNED = re.compile(r"[\w.-]+(?:\[[\w,.-]+\])?==[\w.+!-]+( ;[^\\]+)?( |$)")


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Every file that git tracks and that is still there."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git clone: what is tracked is unknown")
    # In a container the clone often belongs to another user, and git would refuse to look at it.
    command = [git, "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


@cache
def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def places(paths: list[Path], pattern: re.Pattern[str]) -> list[str]:
    """File, line and match of everything that the pattern finds."""
    return [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}: {found.group()}"
        for path in paths
        for text in [text_of(path)]
        for found in pattern.finditer(text)
    ]


def requirements(text: str) -> Iterator[str]:
    """One logical line per requirement: backslashes joined, comments and blank lines left out."""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line


def unhashed(text: str) -> list[str]:
    return [line for line in requirements(text) if not (PINNED.match(line) and HASH.search(line))]


def test_no_file_names_a_package_host(tracked: list[Path]) -> None:
    assert places(tracked, PACKAGE_HOST) == []


def test_no_file_names_a_folder_of_somebodys_machine(tracked: list[Path]) -> None:
    assert places(tracked, OWN_FOLDER) == []


def test_no_file_names_this_clone_or_this_home(tracked: list[Path]) -> None:
    # A folder of one name, as /app, could stand for something else.
    folders = [str(folder) for folder in (ROOT, Path.home()) if len(folder.parts) > 2]
    named = [(path.name, folder) for path in tracked for folder in folders if folder in text_of(path)]
    assert named == []


def test_there_is_no_uv_lock(tracked: list[Path]) -> None:
    assert [path for path in tracked if path.name == "uv" + ".lock"] == []


def test_every_requirement_has_its_hashes() -> None:
    files = [*(ROOT / "requirements").glob("*.txt"), *(ROOT / "layers").rglob("requirements*.txt")]
    expected = {"requirements", "audit", "browser", "checkov", "dev", "node", "runtime", "sam", "uv"}
    assert {path.stem for path in files} == expected
    assert {path.name: unhashed(text_of(path)) for path in files if unhashed(text_of(path))} == {}
    assert places(files, INDEX_OPTION) == []


def test_the_tests_run_what_the_layer_ships() -> None:
    shipped = set(requirements(text_of(ROOT / "layers/dependencies/requirements.txt")))
    assert shipped - set(requirements(text_of(ROOT / "requirements" / "dev.txt"))) == set()


def test_no_file_is_larger_than_a_megabyte(tracked: list[Path]) -> None:
    assert [path.name for path in tracked if path.stat().st_size > MEGABYTE] == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (PACKAGE_HOST, "https://py" + "pi.org/project/tenacity"),
        (PACKAGE_HOST, "https://files.python" + "hosted.org/packages/a.whl"),
        (PACKAGE_HOST, "--index" + "-url https://mirror.example/packages"),
        (PACKAGE_HOST, "url = 'https://mirror.example/" + "simple'"),
        (PACKAGE_HOST, "UV_DEFAULT_INDEX" + "_URL=https://mirror.example"),
        (OWN_FOLDER, "see /home" + "/ada/notes.txt"),
        (OWN_FOLDER, "'/Users" + "/ada'"),
        (OWN_FOLDER, "/root" + "/.cache"),
        (OWN_FOLDER, "C:" + "\\Users" + "\\ada"),
        (INDEX_OPTION, "-i https://mirror.example"),
    ],
)
def test_the_pattern_finds_what_it_is_for(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


@pytest.mark.parametrize(
    "text", ["a==1\n", "a>=1 --hash=sha256:" + "0" * 64, "-e .", "a @ https://mirror.example/a" + ".whl"]
)
def test_a_requirement_without_pin_or_hash_is_found(text: str) -> None:
    assert unhashed(text) != []
