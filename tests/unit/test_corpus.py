"""What any release wrote is read as it was then, by this release, and by the one before where its code can be had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import pytest

import handle_failed_chunk
import handle_failed_import
from core.errors import SettingsError
from shell.lambda_handlers import choose_wait, is_outage
from shell.work.messages import Message, RedrivableMessage
from shell.work.reading import UnknownMessageError, read_message
from tests.support.application.driver import Context, sqs_event
from tests.support.corpus.forms import FORMS, ROOT, message_classes
from tests.support.corpus.record import Line, find_missing, read_corpus, record

GIT = shutil.which("git") or "git"
READERS = {form.name: form.read for form in FORMS}
LINES = list(read_corpus())
MESSAGES = [line for line in LINES if line.form == "messages"]
# Of a later release: members of every type of JSON.
LATER: dict[str, Any] = {"later": 1, "more": {"a": [None, "ä"]}, "flag": False, "unknown": "x"}
# What a message means without these members. It is never changed: messages without them wait in queues.
MEANINGS: dict[str, dict[str, Any]] = {
    "ChunkMessage": {"generation": None, "redrive": 0},
    "CompletionMessage": {"redrive": 0},
    "DeletionMessage": {"redrive": 0},
    "ExpansionMessage": {"redrive": 0},
    "HashingMessage": {"redrive": 0},
    "ImportMessage": {"generation": None, "after_chunk": 0, "redrive": 0, "progress": ()},
    "ListingMessage": {"redrive": 0},
    "TaggingMessage": {"redrive": 0},
    "UndoCompletionMessage": {"redrive": 0},
    "UndoMessage": {"after_part": 0, "redrive": 0},
    "UndoPartMessage": {"redrive": 0},
    "UploadMessage": {"redrive": 0},
    "WakeMessage": {"turn": 2**63 - 1},
}
# Reads each message of a corpus with the code of another release, in a process of its own.
READ_BY_ANOTHER = """
import json, sys
import shell.work.messages
print(shell.work.messages.__file__, file=sys.stderr)
from shell.work.messages import RedrivableMessage
from shell.work.reading import read_message
for line in sys.stdin:
    message = read_message(json.loads(line))
    again = message.redriven() if isinstance(message, RedrivableMessage) else message
    print(json.dumps([type(message).__name__, again.as_dict()]))
"""


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.release} {line.form} {line.name}")
def test_what_a_release_wrote_is_read_as_it_was_then(line: Line) -> None:
    """Later releases may read more of it: members that it did not have then."""
    read = json.loads(json.dumps(READERS[line.form](line.body)))
    known = {name: read[name] for name in line.reads if name in read} if isinstance(read, dict) else read
    assert known == line.reads


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_kind_that_this_release_writes_is_recorded(form: Any) -> None:
    assert find_missing(form) == [], "python -m tests.support.corpus.record"


def test_the_recorder_adds_what_is_missing_and_changes_nothing(tmp_path: Path) -> None:
    count = record(tmp_path)
    assert count >= sum(1 for form in FORMS for _ in form.write()) > 0
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*/*.jsonl")}
    assert written.keys() == {f"{form.name}.jsonl" for form in FORMS}
    [path] = tmp_path.glob("*/cursors.jsonl")
    path.write_text("".join(written[path.name].splitlines(keepends=True)[1:]), encoding="utf-8")
    assert (record(tmp_path), record(tmp_path)) == (1, 0)
    assert sorted(path.read_text(encoding="utf-8").splitlines()) == sorted(written[path.name].splitlines())


@pytest.mark.parametrize("line", MESSAGES, ids=lambda line: line.name)
def test_members_of_a_later_release_are_read_past_and_sent_again(line: Line) -> None:
    """From a later release through this one to the later one again; what this one knows is as it was."""
    document = json.loads(line.body)
    if not document:
        return  # The empty wake: with any member it would be another message.
    message = read_message({**document, **LATER})
    assert type(message).__name__ == line.reads["class"]
    again = message.redriven() if isinstance(message, RedrivableMessage) else message
    expected = {**document, **LATER} | ({"redrive": 1} if isinstance(message, RedrivableMessage) else {})
    assert json.loads(again.to_json()) == expected


def test_without_the_unknown_members_they_would_be_lost() -> None:
    """The negative control."""
    message = replace(read_message({"import_id": 1, "later": 1}), unknown={})
    assert json.loads(message.to_json()) == {"import_id": 1}


def test_the_meaning_of_missing_members_is_frozen() -> None:
    assert {form.__name__: defaults(form) for form in message_classes() if defaults(form)} == MEANINGS


def defaults(form: type[Message]) -> dict[str, Any]:
    """The members of a class that a message may lack."""
    return {
        each.name: each.default
        for each in fields(form)
        if each.init and each.name != "unknown" and each.default is not MISSING
    }


@pytest.mark.parametrize(
    "document",
    [
        {"import_id": 1, "task": "later"},
        {"import_id": 1, "chunk_no": 1, "task": "later"},
        {"import_id": 1, "undo_no": 1, "generation": 1, "task": "later"},
        {"volume_id": 1, "task": "later", "generation": 1},
        {"job_id": 1, "turn": 1, "task": "later"},
        {"later_id": 1, "task": "later"},
    ],
)
def test_a_kind_of_a_later_release_is_unknown_and_waits_for_that_release(document: dict[str, Any]) -> None:
    """It waits as in an outage, is sent again before the dead-letter queue, and is counted as SettingsErrors."""
    with pytest.raises(UnknownMessageError) as refused:
        read_message(document)
    assert isinstance(refused.value, SettingsError)
    assert is_outage(refused.value)
    assert choose_wait(refused.value, 1) is None


@pytest.mark.parametrize("handler", [handle_failed_chunk.lambda_handler, handle_failed_import.lambda_handler])
def test_a_dead_letter_of_a_later_release_stays_and_nothing_is_given_up(handler: Any) -> None:
    """Without a database or a queue: the function reads nothing and sends nothing."""
    response = handler(sqs_event({"import_id": 1, "chunk_no": 1, "task": "later"}), Context())
    assert len(response["batchItemFailures"]) == 1


def find_previous() -> str | None:
    """The tag of the last release, else the commit before; None without history."""
    for arguments in (("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"), ("rev-parse", "HEAD^")):
        found = run(GIT, *arguments)
        if found.returncode == 0:
            return found.stdout.strip()
    return None


def run(*command: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository."""
    surroundings = {**os.environ, **environment}
    return subprocess.run(command, input=text, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_release_before_reads_the_messages_of_this_one(tmp_path: Path) -> None:
    """As after a rollback. What is new in this release is unknown to it; everything else has the class that it has."""
    previous = find_previous()
    if previous is None:
        pytest.skip("the release before is not in the history of this clone")
    archive = tmp_path / "shared.tar"
    assert run(GIT, "archive", "-o", str(archive), previous, "shared").returncode == 0
    with tarfile.open(archive) as code:
        code.extractall(tmp_path, filter="data")
    bodies = "".join(f"{line.body}\n" for line in MESSAGES)
    # Its code comes before this release's, which the environment has by an editable installation.
    result = run(sys.executable, "-c", READ_BY_ANOTHER, text=bodies, PYTHONPATH=str(tmp_path / "shared"))
    assert result.returncode == 0, result.stderr
    assert str(tmp_path) in result.stderr, "the code of the release before"
    answers = list(map(json.loads, result.stdout.splitlines()))
    assert [name for name, _ in answers] == [line.reads["class"] for line in MESSAGES]
    for line, (_, again) in zip(MESSAGES, answers, strict=True):
        assert {**json.loads(line.body), "redrive": again.get("redrive")} == {**again, "redrive": again.get("redrive")}
