"""What `undo` prints at the end: what was done, what was kept and why, and what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.codes import KeptCode
from exhibit_ingest.program import format_command
from exhibit_ingest.undo.output import _REASONS, build_document, describe, describe_import
from exhibit_ingest.undo.undo_session import UndoOutcome, describe_progress

UNDO = {
    "undoNo": 1,
    "status": "undone",
    "dryRun": False,
    "removed": 0,
    "restored": 1_200,
    "kept": 0,
    "linksRestored": 0,
    "reasons": [],
    "foundUnchangedBy": [],
    "statedBy": [],
    "unrecordedBy": [],
}
NAME = "Import 7 (a.dat, case 'acme')"
REASON = {"code": "IN_PRODUCTION", "documents": 3}
KEPT: dict[str, Any] = {"status": "undone_with_conflicts", "kept": 3, "reasons": [REASON]}


def outcome(was_undone_before: bool = False, is_dry_run_requested: bool = False, **state: Any) -> UndoOutcome:
    undo = UNDO | state
    kept = Path("/r/kept.csv") if undo["kept"] else None
    return UndoOutcome(undo, kept, 1.0, "a.dat", "acme", was_undone_before, is_dry_run_requested)


def lines(*names: str, **state: Any) -> list[str]:
    return list(describe(7, outcome(**state), names))


def test_an_undo_without_conflicts_is_one_line() -> None:
    assert lines() == [f"{NAME} is undone: 0 documents removed, 1,200 restored, 0 kept"]


def test_the_links_that_came_back_are_counted() -> None:
    assert lines(removed=1, linksRestored=1) == [
        f"{NAME} is undone: 1 document removed, 1,200 restored, 0 kept; 1 link to custodians and tags made again"
    ]


def test_what_is_kept_has_its_reason_and_the_next_step() -> None:
    assert lines(**KEPT) == [
        f"{NAME} is undone in part: 0 documents removed, 1,200 restored, 3 kept",
        "  IN_PRODUCTION, 3 documents: has Bates numbers of the production in kept.csv.",
        "What was kept, and why: /r/kept.csv",
        f"To undo the rest when nothing keeps it any more: {format_command('undo', '7')}",
    ]


@pytest.mark.parametrize(
    ("status", "is_dry", "sentence"),
    [
        ("cancelled", False, "The undo of import 7 was cancelled before it began. Nothing was changed."),
        ("superseded", True, "The dry run of import 7 has no result: the undo of the import was requested meanwhile."),
    ],
)
def test_an_undo_that_was_cancelled_or_superseded_is_not_reported_as_done(
    status: str, is_dry: bool, sentence: str
) -> None:
    printed = lines(status=status, dryRun=is_dry, restored=0)
    assert printed == [sentence, f"To undo the import: {format_command('undo', '7')}"]


def test_a_dry_run_says_that_nothing_was_changed() -> None:
    printed = lines("--tenant", "firm a", **KEPT, dryRun=True)
    assert printed[0].startswith(f"{NAME} would be undone in part: ")
    assert printed[2:] == [
        "What would be kept, and why: /r/kept.csv",
        f"Nothing was changed. To undo it: {format_command('undo', '7')} --tenant 'firm a'",
    ]


def test_an_undo_of_which_parts_failed_can_go_on() -> None:
    printed = lines(status="undo_failed")
    assert printed[0].startswith(f"{NAME} is undone in part, because some parts failed in every attempt: ")
    assert printed[1:] == [f"To undo the rest: {format_command('undo', '7')}"]


def test_a_dry_run_of_which_parts_failed_says_that_its_counts_are_too_low() -> None:
    printed = lines(status="undo_failed", dryRun=True)
    assert printed[0] == "Some parts of the dry run failed in every attempt: the counts are too low. Run it again."
    assert printed[1].startswith(f"{NAME} would be undone: ")


def test_imports_that_relied_on_the_documents_are_named() -> None:
    exact, most = (
        {"importId": 8, "documents": 1, "atMost": False},
        {"importId": 9, "documents": 1_200, "atMost": True},
    )
    [advice] = lines(foundUnchangedBy=[exact, most])[1:]
    assert "documents which the undo removed or changed: import 8 (1 document), import 9 (at most 1,200 doc" in advice
    [advice] = lines(foundUnchangedBy=[exact], dryRun=True)[1:-1]
    assert "documents which the undo would remove or change: import 8 (1 document). Import their files" in advice


def test_imports_that_state_what_stays_and_imports_of_earlier_versions_are_named() -> None:
    stated, unrecorded = lines(
        statedBy=[{"importId": 8, "documents": 3}], unrecordedBy=[{"importId": 5, "documents": 1}]
    )[1:]
    assert stated == "Values that other imports also contain stay: import 8 (3 documents). This is not a conflict."
    assert "changed the restored documents later, with an earlier version" in unrecorded
    assert "repeated: import 5 (1 document). If such a value is missing now" in unrecorded


def test_a_reason_of_a_newer_stack_has_its_code_and_a_list_that_is_not_written_can_be_downloaded_later() -> None:
    undo = UNDO | KEPT | {"reasons": [{"code": "NEW_REASON", "documents": 3}]}
    printed = list(describe(7, UndoOutcome(undo, None, 1.0, "a.dat", "acme"), ["--stack", "firm"]))
    command = format_command("undo", "7", "--stack", "firm")
    assert printed[1:3] == [
        "  NEW_REASON, 3 documents.",
        f"The list of what was kept is not written yet. To download it: {command}",
    ]


def test_an_import_of_nothing_has_nothing_to_undo() -> None:
    assert lines(status="nothing_to_undo") == [f"{NAME} imported nothing; there is nothing to undo."]


def test_an_import_that_was_undone_before_is_not_reported_as_undone_now() -> None:
    assert lines(was_undone_before=True, foundUnchangedBy=[{"importId": 8, "documents": 1, "atMost": False}]) == [
        f"{NAME} was undone before: 0 documents removed, 1,200 restored, 0 kept. Nothing was changed now."
    ]


def test_the_undo_itself_is_not_taken_for_the_dry_run_that_was_requested() -> None:
    assert lines(is_dry_run_requested=True) == [
        "This was not a dry run: an earlier command had begun the undo. Its result:",
        f"{NAME} is undone: 0 documents removed, 1,200 restored, 0 kept",
    ]
    for was_undone_before in (True, False):
        entry = build_document(7, outcome(was_undone_before, is_dry_run_requested=True), None, dry_run=True)
        assert (entry["dry_run"], entry["undone_before"]) == (False, was_undone_before)
    dry = outcome(is_dry_run_requested=True, dryRun=True)
    nothing = outcome(is_dry_run_requested=True, status="nothing_to_undo", undoNo=None)
    for each in (dry, nothing, None):
        entry = build_document(7, each, None, dry_run=True)
        assert (entry["dry_run"], entry["undone_before"]) == (True, False)


def test_the_question_names_the_import_its_file_and_case_and_what_it_did() -> None:
    record = {"id": 7, "fileName": "a.dat", "case": "acme", "startedAt": "2026-11-21T10:15:00.5Z", "userId": "ada"}
    question = describe_import(record | {"imported": 1_200, "updated": 1})
    assert question == f"{NAME}, of 2026-11-21 10:15 UTC by ada: 1,200 documents created, 1 changed."


@pytest.mark.parametrize("code", [*KeptCode])
def test_every_code_has_a_reason(code: str) -> None:
    assert code in _REASONS


@pytest.mark.parametrize(("is_dry", "word"), [(True, "examined"), (False, "undone")])
def test_the_progress_counts_parts(is_dry: bool, word: str) -> None:
    assert (
        describe_progress({"importId": 7, "parts": 12, "partsLeft": 2, "dryRun": is_dry})
        == f"import 7: 10/12 parts {word}"
    )
