"""A volume whose earlier command was killed, or that the stack does not finish."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import CommandError
from exhibit_ingest.importing.volume_sender import VolumeRequest, VolumeSender
from exhibit_ingest.session.following import Clock
from exhibit_ingest.session.session import Session
from exhibit_ingest.volumes.survey import survey_volume
from tests.support.uploads.fake_stack import FakeStack

VOLUME = {"files": 1, "units": 3, "unitsLeft": 2, "failureMessage": "Set loadFile to one."}
BUSY = {"type": "urn:exhibit-ingest:problem:wrong-state"}


@dataclass
class Stack(FakeStack):
    """An API that refuses another import of the first volume while that has one, and the status of which ends so."""

    becomes: str = "ready"
    is_busy: bool = False
    imports: dict[int, str] = field(default_factory=dict)
    answers: dict[str | None, Any] = field(default_factory=dict)
    generation: int = 1
    posted: int = 0

    def request(self, method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        match method, path.strip("/").split("/"):
            case "POST", ["volumes", number, "import"]:
                return self.import_volume(int(number), key)
            case "GET", ["volumes", _]:
                return {
                    **super().request(method, path),
                    **VOLUME,
                    "generation": self.generation,
                    "imports": [self.describe_import(n) for n in self.imports],
                }
            case "GET", ["imports", number]:
                return {**self.describe_import(int(number)), "reports": None}
        return super().request(method, path, json, key)

    def import_volume(self, number: int, key: str | None) -> Any:
        """Answer a request to import a volume: that of a known key as before."""
        if key in self.answers:
            return self.answers[key]
        if self.is_busy and number == 1:
            raise ApiError("Import 7 of the volume has not ended; wait for it, or cancel it.", 409, BUSY)
        self.volumes[number], earlier = self.becomes, [*self.imports]
        self.imports[7 + len(earlier)] = "running"
        self.posted += 1
        answer = {"generation": self.generation, "imports": [{"id": each} for each in earlier]}
        return self.answers.setdefault(key, answer)

    def describe_import(self, number: int) -> dict[str, Any]:
        """An import of a volume."""
        return {"id": number, "status": self.imports[number], "kind": "rows", "path": "DATA/a.dat"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "VOL001" / "DATA").mkdir(parents=True)
    (tmp_path / "VOL001" / "DATA" / "a.dat").write_bytes(b"Control Number\nA-1\n")
    return tmp_path / "VOL001"


def build(
    stack: Stack, folder: Path, *, is_kept: bool, clock: Clock | None = None, is_check: bool = False
) -> VolumeSender:
    """A command that sends the folder."""
    machine = SimpleNamespace(is_kept=is_kept, check=lambda: None)
    storage = httpx.Client(transport=httpx.MockTransport(stack.answer))
    place = {"api": stack, "stack": "s", "me": {"tenantId": "t"}, "folder": folder.parent, "storage": storage}
    session = cast(Session, SimpleNamespace(**place, machine=machine, name_options=lambda: ("--stack", "s")))
    request = VolumeRequest(survey_volume(folder, {}), "Case", {}, is_check=is_check)
    return VolumeSender(session, request, lambda _: None, lambda *_: None, clock=clock)


@pytest.fixture
def stack(folder: Path) -> Stack:
    """A stack with the folder, whose import has not ended."""
    stack = Stack()
    build(stack, folder, is_kept=True).send()
    stack.is_busy = True
    return stack


@pytest.mark.parametrize("status", ["ready", "expanding"])
@pytest.mark.parametrize("is_kept", [True, False])
def test_the_import_of_a_command_that_was_killed_goes_on(
    stack: Stack, folder: Path, status: str, *, is_kept: bool
) -> None:
    stack.volumes[1] = status
    sender, said = build(stack, folder, is_kept=is_kept), list[str]()
    sender._on_continued = lambda: said.append("goes on")
    stack.volumes[1] = "ready"
    assert sender.send()["status"] == "ready"
    assert (sender.volume_id, stack.imports, said) == (1, {7: "running"}, ["goes on"])
    assert [place.id for place in sender.list_imports()] == [7]


def test_a_key_that_the_stack_has_forgotten_does_not_matter(stack: Stack, folder: Path) -> None:
    stack.answers.clear()
    sender = build(stack, folder, is_kept=False)
    sender.send()
    assert ([place.id for place in sender.list_imports()], stack.imports) == ([7], {7: "running"})


def kill(stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """Have a command end just before a method of it."""

    def end(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Stack if before == "import_volume" else VolumeSender, before, end)
        with pytest.raises(KeyboardInterrupt):
            build(stack, folder, is_kept=True).send()


def age_keys(folder: Path) -> None:
    """Have the stack keep the keys of the journal no longer."""
    for path in (folder.parent / "uploads").glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "act_at": 1.0}))


def test_the_import_of_another_user_is_not_taken_for_the_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack()
    kill(stack, folder, monkeypatch, "import_volume")
    stack.volumes[1], stack.imports[7], stack.is_busy = "ready", "running", True
    said, sender = list[str](), build(stack, folder, is_kept=True)
    sender._on_continued = lambda: said.append("goes on")
    with pytest.raises(CommandError, match=r"Import 7 of the volume has not ended; .*: .* cancel 7 --stack s"):
        sender.send()
    assert (sender.list_imports(), said) == ([], [])


@pytest.mark.parametrize("before", ["_wait", "list_imports"])
def test_after_the_end_of_its_key_a_request_that_was_answered_is_not_repeated(
    folder: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    stack = Stack()
    if before == "_wait":
        kill(stack, folder, monkeypatch, before)
    else:
        build(stack, folder, is_kept=True).send()
    stack.imports[7] = "completed"
    stack.imports |= {8: "running"} if before != "_wait" else {}
    age_keys(folder)
    stack.answers.clear()
    sender = build(stack, folder, is_kept=True)
    sender.send()
    assert ([place.id for place in sender.list_imports()], stack.posted) == ([7], 1)


def test_a_request_that_has_no_answer_is_not_repeated_after_the_end_of_its_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = Stack()
    kill(stack, folder, monkeypatch, "import_volume")
    age_keys(folder)
    stack.volumes[1], stack.imports[7] = "ready", "completed"
    with pytest.raises(CommandError, match=r"Look at its result, .*: .* imports --case Case --stack s\. To import"):
        build(stack, folder, is_kept=True).send()
    assert stack.posted == 0


def test_a_volume_that_was_never_imported_is_imported_after_the_end_of_a_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = Stack()
    kill(stack, folder, monkeypatch, "import_volume")
    age_keys(folder)
    build(stack, folder, is_kept=True).send()
    assert stack.posted == 1


def test_an_import_that_was_requested_since_is_not_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack()
    kill(stack, folder, monkeypatch, "_wait")
    stack.imports |= {7: "completed", 8: "running"}
    stack.generation = 2
    sender = build(stack, folder, is_kept=True)
    with pytest.raises(CommandError, match="Another command has requested an import of the volume since"):
        sender.send()
    assert sender.list_imports() == []


def test_another_request_says_how_to_end_the_import_that_runs(stack: Stack, folder: Path) -> None:
    sender = build(stack, folder, is_kept=True, is_check=True)
    with pytest.raises(CommandError, match=r"Import 7 of the volume has not ended; .*: .* cancel 7 --stack s"):
        sender.send()
    assert (stack.imports, len(stack.volumes)) == ({7: "running"}, 1)


def test_a_result_that_is_known_is_not_the_one_of_the_next_command(stack: Stack, folder: Path) -> None:
    sender = build(stack, folder, is_kept=True)
    sender.send()
    sender.end()
    stack.imports[7], stack.is_busy = "completed", False
    sender = build(stack, folder, is_kept=True)
    sender.send()
    assert ([place.id for place in sender.list_imports()], sorted(stack.imports)) == ([8], [7, 8])


def test_a_volume_on_which_nothing_works_ends_the_command(folder: Path) -> None:
    stack, waits = Stack(), [0.0]

    def sleep(seconds: float) -> None:
        waits[0] += seconds

    stack.becomes = "expanding"
    with pytest.raises(CommandError, match=r"has not changed for 20 minutes. It is expanding the zip: 1/3 parts\."):
        build(stack, folder, is_kept=True, clock=Clock(lambda: waits[0], sleep)).send()


def test_a_volume_that_fails_names_the_options_of_the_command(folder: Path) -> None:
    stack = Stack()
    stack.becomes = "failed SEVERAL_LOAD_FILES"
    with pytest.raises(CommandError, match="SEVERAL_LOAD_FILES: Set --load-file to one"):
        build(stack, folder, is_kept=True).send()
