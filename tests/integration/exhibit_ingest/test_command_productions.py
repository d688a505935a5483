"""`exhibit-ingest produce` and `productions`, beside a `serve` that all tests of this module share."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from samples.volume import VolumeSpec, generate_volume
from tests.support.application.served_commands import Commands, serve

pytestmark = pytest.mark.slow

WHOLE = generate_volume(VolumeSpec(families=3, has_faults=False))
CASE = ("--case", "Smith v. Jones")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[Workspace]:
    with serve(tmp_path_factory.mktemp("state"), schema_url, "productions") as workspace:
        yield workspace


@pytest.fixture(scope="module")
def loaded(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A case with the documents, pages and files of a volume."""
    folder = WHOLE.write(tmp_path_factory.mktemp("volume"))
    assert main(["import", str(folder), *CASE], workspace) == 0
    return workspace


@pytest.fixture
def commands(loaded: Workspace, capsys: pytest.CaptureFixture[str]) -> Commands:
    capsys.readouterr()
    return Commands(loaded, capsys)


def produce(commands: Commands, *arguments: object) -> dict[str, Any]:
    """A production of the case that is confirmed."""
    code, document = commands.read("produce", *CASE, "--yes", *arguments)
    assert code == 0, document
    production: dict[str, Any] = document["production"]
    assert production["status"] == "confirmed"
    return production


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_a_draft_says_what_would_be_produced_and_produces_nothing(commands: Commands) -> None:
    code, text, _ = commands.run("produce", *CASE, "--all", "--prefix", "DRAFT", "--dry-run")
    assert code == 0
    families = {each.family for each in WHOLE.documents if each.parent}
    assert f"documents   {len(WHOLE.documents)}, with {len(families)} families of two or more\n" in text
    assert f"with pages  {len(WHOLE.documents)} documents\n" in text
    expected = f"numbers     DRAFT0000001 to DRAFT{WHOLE.pages:07}: {WHOLE.pages} numbers, one for each page"
    # A file of one page is not opened before its number is reserved.
    assert f"{expected}, if the images of " in text
    _, draft = commands.read("produce", *CASE, "--all", "--prefix", "DRAFT", "--no-number-pages", "--dry-run")
    numbers = (draft["check"]["numbers"], draft["check"]["last_bates"])
    assert numbers == (len(WHOLE.documents), f"DRAFT{len(WHOLE.documents):07}")
    _, listed = commands.read("productions", *CASE)
    assert "DRAFT0000001" not in {each["first_bates"] for each in listed["productions"]}


def test_a_production_is_downloaded_checked_and_completed(commands: Commands, tmp_path: Path) -> None:
    production = produce(commands, "--all", "--prefix", "SMITH")
    number, pages = production["id"], WHOLE.pages
    assert (production["first_bates"], production["last_bates"]) == ("SMITH0000001", f"SMITH{pages:07}")
    assert production["documents"] == len(WHOLE.documents)

    code, first = commands.read("productions", "download", number, tmp_path)
    files = files_of(tmp_path / production["volume"])
    assert (code, first["downloaded"], first["already_there"]) == (0, len(files), 0)
    # Of each page an image, of each document a native and a text; DAT, OPT, and the manifest with its hash.
    assert len(files) == pages + 2 * len(WHOLE.documents) + 4
    assert hashlib.sha256(files["MANIFEST.csv"]).hexdigest() == production["manifest_sha256"]

    tampered = next(name for name in files if name.startswith("NATIVES"))
    (tmp_path / production["volume"] / tampered).write_bytes(b"x" * len(files[tampered]))
    lost = "MANIFEST.sha256"
    (tmp_path / production["volume"] / lost).unlink()
    code, again = commands.read("productions", "download", number, tmp_path)
    assert (code, again["downloaded"], again["already_there"]) == (0, 2, len(files) - 2)
    assert files_of(tmp_path / production["volume"]) == files

    code, printed, said = commands.run("volume", number, tmp_path)
    assert (code, printed) == (0, f"{tmp_path / production['volume']}\n")
    assert f"0 downloaded, {len(files)} were there already" in said


def test_a_crosswalk_has_the_numbers_of_the_api(commands: Commands, tmp_path: Path) -> None:
    number, file = produce(commands, "--all", "--prefix", "CROSS")["id"], tmp_path / "crosswalk.csv"
    assert commands.run("productions", "crosswalk", number, "--csv", file)[0] == 0
    with commands.api() as api:
        documents = api.request("GET", f"/productions/{number}/documents")["items"]
    names = ("controlNumber", "batesBegin", "batesEnd", "pages", "status")
    with file.open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.reader(opened))
    assert rows[1:] == [[str(each[name]) for name in names] for each in documents]
    _, listed = commands.read("productions", "crosswalk", number)
    assert [list(map(str, each.values())) for each in listed["documents"]] == rows[1:]


def test_documents_are_named_by_control_numbers_of_a_file(commands: Commands, tmp_path: Path) -> None:
    child = next(each for each in WHOLE.documents if each.parent)
    file = tmp_path / "numbers.txt"
    file.write_text(f"{child.numbers[0]}\n\n{child.numbers[0]}\n", encoding="utf-8-sig")
    code, alone = commands.read("produce", *CASE, "--from-file", file, "--prefix", "FILE", "--dry-run")
    assert (code, alone["check"]["documents"], alone["production"]) == (0, 1, None)
    assert [each["code"] for each in alone["check"]["findings"]] == ["INCOMPLETE_FAMILY"]
    family = sum(each.family == child.family for each in WHOLE.documents)
    whole = ("--include-families", "--no-number-pages", "--digits", "4", "--start", "7")
    made = produce(commands, "--from-file", file, "--prefix", "FILE", *whole)
    assert (made["first_bates"], made["last_bates"]) == ("FILE0007", f"FILE{6 + family:04}")
    # The prefix keeps its digits, and the volume is the next one.
    code, draft = commands.read("produce", *CASE, child.numbers[0], "--prefix", "FILE", "--dry-run")
    assert draft["request"]["digits"] == 4
    assert int(draft["request"]["volume"].removeprefix("VOL")) == int(made["volume"].removeprefix("VOL")) + 1


def test_privileged_documents_are_named_in_the_draft(commands: Commands) -> None:
    with commands.api() as api:
        exhibit = api.request("GET", "/exhibits?case=Smith%20v.%20Jones&limit=1")["items"][0]
        api.request("POST", "/taggings", {"exhibitIds": [exhibit["id"]], "tags": ["Privileged"]})
    _, text, _ = commands.run("produce", *CASE, "--all", "--prefix", "PRIV", "--dry-run")
    assert f"PRIVILEGED_TAG, 1 document: {exhibit['controlNumber']}. " in text
    arguments = ("--without-tag", "Privileged", "--prefix", "PRIV", "--dry-run")
    _, draft = commands.read("produce", *CASE, *arguments)
    assert draft["check"]["documents"] == len(WHOLE.documents) - 1


def test_productions_are_listed_shown_and_not_cancelled_once_confirmed(commands: Commands) -> None:
    made = produce(commands, "--all", "--prefix", "LIST", "--no-number-pages")
    _, listed = commands.read("productions", *CASE, "--limit", 1)
    assert [each["id"] for each in listed["productions"]] == [made["id"]]
    code, text, _ = commands.run("productions", *CASE)
    assert (code, "LIST0000001" in text) == (0, True)
    # What is given before the action counts too.
    code, shown = commands.read("productions", "--json", "show", made["id"])
    assert (code, shown["production"]["id"], shown["production"]["status"]) == (0, made["id"], "confirmed")
    assert shown["production"]["first_bates"] == made["first_bates"]
    code, text, _ = commands.run("productions", "show", made["id"])
    assert f"productions download {made['id']} FOLDER" in text
    for action in ("cancel", "retry"):
        yes = ["--yes"] if action == "cancel" else []
        code, refused = commands.read("productions", action, made["id"], *yes)
        assert (code, list(refused)) == (1, ["error"])


def test_what_cannot_be_is_said_with_the_next_step(commands: Commands, tmp_path: Path) -> None:
    wrong = [
        ("produce", *CASE, "--prefix", "X", "--yes"),
        ("produce", *CASE, "--prefix", "X", "--all", "--tag", "Hot", "--yes"),
        ("produce", *CASE, "--prefix", "X", "--all"),
        ("produce", *CASE, "--prefix", "X", "--from-file", tmp_path / "lost", "--yes"),
        ("produce", *CASE, "--prefix", "X", "NOSUCH", "--yes"),
        ("produce", "--case", "nosuch", "--prefix", "X", "--all", "--yes"),
        ("produce", *CASE, "--prefix", "X", "--tag", "nosuch", "--yes"),
        ("productions", "--case", "nosuch"),
        ("productions", "show", 10**9),
        ("productions", "cancel", 1),
        ("productions", "download", "x", tmp_path),
        ("volume", 10**9, tmp_path),
    ]
    for arguments in wrong:
        code, document = commands.read(*arguments)
        assert (code, list(document)) == (2, ["error"]), document


class Terminal(io.StringIO):
    """A standard input in which someone answers."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_nothing_is_produced_unless_the_answer_is_yes(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    code, printed, said = commands.run("produce", *CASE, "--all", "--prefix", "ASK", "--no-number-pages")
    assert (code, printed) == (1, "")
    assert "ASK0000001 to ASK0000006: 6 numbers, one for each document" in said
    assert said.endswith("Produce them? [y/N] Nothing was produced.\n")
    monkeypatch.undo()
    _, listed = commands.read("productions", *CASE)
    assert "ASK0000001" not in {each["first_bates"] for each in listed["productions"]}


def test_documents_whose_files_are_missing_are_named_and_not_produced(commands: Commands, tmp_path: Path) -> None:
    folder = generate_volume(VolumeSpec(families=4)).write(tmp_path)
    assert commands.run("import", folder, "--case", "faulty")[0] == 3
    arguments = ("produce", "--case", "faulty", "--all", "--prefix", "X", "--yes")
    code, text, _ = commands.run(*arguments)
    assert (code, "FILE_MISSING (refuses the production), " in text) == (3, True)
    code, draft = commands.read(*arguments)
    assert (code, draft["production"]) == (3, None)
    assert commands.read("productions", "--case", "faulty")[1] == {"productions": []}


def test_a_production_that_ends_cancelled_is_a_failure_with_its_reason(commands: Commands, tmp_path: Path) -> None:
    folder = WHOLE.write(tmp_path)
    damaged = next(each for each in WHOLE.documents if each.pages == 1)
    [image] = folder.rglob(f"{damaged.numbers[0]}.tif")
    image.write_bytes(b"MM" + bytes(100))
    assert commands.run("import", folder, "--case", "damaged")[0] == 0
    arguments = ("produce", "--case", "damaged", "--all", "--prefix", "X", "--yes")
    code, document = commands.read(*arguments)
    made = document["production"]
    assert (code, made["status"], made["failed_step"]) == (1, "cancelled", "reserve")
    code, text, _ = commands.run("productions", "show", made["id"])
    assert (code, f"It failed at the step reserve: IMAGE_UNREADABLE (document {damaged.numbers[0]})" in text) == (
        0,
        True,
    )
    # A cancellation that is requested again changes nothing.
    code, again = commands.read("productions", "cancel", made["id"], "--yes")
    assert (code, again["production"]["status"]) == (0, "cancelled")
    assert commands.read("productions", "download", made["id"], tmp_path)[0] == 1
