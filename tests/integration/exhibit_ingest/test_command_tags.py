"""`tag` and `untag`: documents that are named, and all that match filters; on this machine and elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.exhibits.stocked_stack import StockedStack

pytestmark = pytest.mark.slow

Capsys = pytest.CaptureFixture[str]


def list_tagged(stocked: StockedStack, capsys: Capsys, tag: str) -> list[str]:
    documents = stocked.run_json(capsys, "documents")[1]["documents"]
    return [each["control_number"] for each in documents if tag in each["tags"]]


def test_named_documents_get_and_lose_a_tag(stocked: StockedStack, capsys: Capsys, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("A-2\r\n\r\n=A-4\r\nA-1\r\n", encoding="utf-8-sig", newline="")
    # Options may stand between the numbers, and a number counts once.
    code, printed = stocked.run_json(capsys, "tag", "Named\\One", "A-1", "--from-file", numbers, "A-1", "--user", "ada")
    expected = {"tag": "Named\\One", "documents": 3, "job_id": None, "status": "completed", "remaining": 0}
    assert (code, printed["tagging"]) == (0, {**expected, "created": 3})
    assert list_tagged(stocked, capsys, "Named\\One") == ["=A-4", "A-1", "A-2"]
    code, printed = stocked.run(capsys, "tag", "Named\\One", "A-1", "A-3")
    assert (code, printed) == (0, "1 document got the tag 'Named\\One'; 1 had it before.\n")
    assert list_tagged(stocked, capsys, "Named\\One") == ["=A-4", "A-1", "A-2", "A-3"]
    assert " ada " in next(
        line for line in stocked.run(capsys, "history", "A-2")[1].splitlines() if "tag Named\\One added" in line
    )
    code, printed = stocked.run(capsys, "untag", "named\\one", "A-1", "A-2", "A-3", "=A-4")
    assert (code, printed) == (0, "4 of 4 documents lost the tag 'named\\one'.\n")
    assert list_tagged(stocked, capsys, "Named\\One") == []


def test_an_unknown_document_or_tag_changes_nothing(stocked: StockedStack, capsys: Capsys, tmp_path: Path) -> None:
    code, printed = stocked.run(capsys, "tag", "Nothing", "A-1", "A-9", "a-2")
    assert (code, "has no document 'A-9', 'a-2'; nothing was changed" in printed) == (2, True)
    assert list_tagged(stocked, capsys, "Nothing") == []
    code, printed = stocked.run(capsys, "untag", "Hott", "A-1")
    assert (code, "Did you mean 'Hot'" in printed) == (2, True)
    code, printed = stocked.run(capsys, "tag", "Nothing", "--from-file", tmp_path / "none.txt")
    assert (code, "cannot be read" in printed) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tag", "Hot"), "Say which documents in one way"),
        (("tag", "Hot", "A-1", "--title", "plan"), "Say which documents in one way"),
        (("untag", "Hot", "--all", "--title", "plan"), "Say which documents in one way"),
        (("tag", "Hot", "--title", "plan"), "run it in a terminal, or confirm it with --yes"),
    ],
)
def test_documents_are_named_in_one_way_and_a_question_can_be_answered(
    stocked: StockedStack, capsys: Capsys, arguments: tuple[str, ...], message: str
) -> None:
    code, printed = stocked.run(capsys, *arguments)
    assert (code, message in printed) == (2, True), printed
    assert stocked.run_json(capsys, *arguments)[0] == 2


def test_all_that_match_are_tagged_by_a_job(stocked: StockedStack, capsys: Capsys) -> None:
    arguments = ("tag", "Matched", "--custodian", "Bob Ray", "--no-native", "--yes")
    code, printed = stocked.run_json(capsys, *arguments)
    tagging = printed["tagging"]
    assert (code, tagging["documents"], tagging["created"], tagging["remaining"]) == (0, 2, 2, 0)
    assert list_tagged(stocked, capsys, "Matched") == ["=A-4", "A-3"]
    job = stocked.request("GET", f"/tagging-jobs/{tagging['job_id']}")
    assert (job["status"], job["query"]) == ("completed", {"custodian": ["Bob Ray"], "hasNative": False})
    assert stocked.run(capsys, *arguments) == (0, "0 documents got the tag 'Matched'; 2 had it before.\n")
    code, printed = stocked.run(capsys, "untag", "Matched", "--all", "--yes")
    assert (code, list_tagged(stocked, capsys, "Matched")) == (0, []), printed


@pytest.mark.parametrize(
    ("command", "message"),
    [("tag", "has no custodian 'Bob Rai'. Did you mean 'Bob Ray'?"), ("untag", "has no tag 'Absent'")],
)
def test_an_unknown_name_starts_no_job(stocked: StockedStack, capsys: Capsys, command: str, message: str) -> None:
    before = stocked.request("GET", "/tagging-jobs?case=Smith%20v.%20Jones")["items"]
    code, printed = stocked.run(capsys, command, "Absent", "--custodian", "Bob Rai", "--yes")
    assert (code, message in printed) == (2, True), printed
    assert stocked.request("GET", "/tagging-jobs?case=Smith%20v.%20Jones")["items"] == before


def test_a_viewer_elsewhere_reads_and_is_told_which_role_tags(stocked: StockedStack, capsys: Capsys) -> None:
    token = stocked.issue_token("viewer")
    code, printed = stocked.run_elsewhere(capsys, token, "show", "A-1")
    assert (code, "control number" in printed, "Stack: " in printed) == (0, True, True)
    code, printed = stocked.run_elsewhere(capsys, token, "tag", "Hot", "A-2")
    assert code == 1
    assert "role editor" in printed
    assert "Ask the administrator who issues your tokens for that role." in printed
    assert list_tagged(stocked, capsys, "Hot") == ["A-1"]


def test_an_editor_elsewhere_tags_and_gets_files(stocked: StockedStack, capsys: Capsys, tmp_path: Path) -> None:
    token = stocked.issue_token("editor")
    code, printed = stocked.run_elsewhere(capsys, token, "tag", "Elsewhere", "A-3")
    assert (code, "1 document got the tag 'Elsewhere'." in printed) == (0, True), printed
    file = tmp_path / "documents.csv"
    code, printed = stocked.run_elsewhere(capsys, token, "documents", "--tag", "Elsewhere", "--csv", str(file))
    assert (code, "1 document is in" in printed, file.exists()) == (0, True, True), printed
    code, printed = stocked.run_elsewhere(capsys, token, "untag", "Elsewhere", "--all", "--yes")
    assert (code, list_tagged(stocked, capsys, "Elsewhere")) == (0, []), printed
