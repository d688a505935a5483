"""The result of `undo`: sentences for people, or one JSON object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from exhibit_ingest.program import format_command
from exhibit_ingest.undo.undo_session import Undo, UndoOutcome

# What the code means, and what to do about it; docs/correcting-a-load.md has more.
_REASONS = {
    "CHANGED_SINCE": "changed since by the user or import in kept.csv. If it was an import, undo that one first",
    "TAGGED_SINCE": "tagged since by the user in kept.csv",
    "HAS_CHILDREN": "has an attachment that stays, named in kept.csv. Undo the import of the attachment first",
    "IN_PRODUCTION": "has Bates numbers of the production in kept.csv",
    "DOES_NOT_FIT": "the restored properties are too long together. Shorten other properties of the document first",
}
# By the member of --json: that of the API's answer.
_OTHERS = {"found_unchanged_by": "foundUnchangedBy", "stated_by": "statedBy", "unrecorded_by": "unrecordedBy"}
_ENDED_EARLY = {
    "cancelled": "was cancelled before it began. Nothing was changed.",
    "superseded": "has no result: the undo of the import was requested meanwhile.",
}


def build_document(import_id: int, outcome: UndoOutcome | None, error: str | None, *, dry_run: bool) -> dict[str, Any]:
    """Return the object that --json prints; `outcome` is None after an error.

    `dry_run` says whether the command had --dry-run.
    """
    undo = outcome.undo if outcome else {}
    return {
        "import": import_id,
        "status": undo.get("status", "undo_failed"),
        "dry_run": dry_run and not (outcome and outcome.is_undo_itself),
        "undone_before": bool(outcome and outcome.was_undone_before),
        **{name: undo.get(name, 0) for name in ("restored", "removed", "kept")},
        "links_restored": undo.get("linksRestored", 0),
        "reasons": {each["code"]: each["documents"] for each in undo.get("reasons", [])},
        **{name: _name_others(undo.get(member, ())) for name, member in _OTHERS.items()},
        "conflicts": str(outcome.kept) if outcome and outcome.kept else None,
        "error": error,
        "seconds": round(outcome.seconds, 3) if outcome else 0.0,
    }


def _name_others(others: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"import": each["importId"], "documents": each["documents"]}
        | ({"at_most": each["atMost"]} if "atMost" in each else {})
        for each in others
    ]


def describe(import_id: int, outcome: UndoOutcome, names: Sequence[str]) -> Iterator[str]:
    """Yield the lines that the command prints; `names` are the options that name its stack, for the next command."""
    undo = outcome.undo
    is_dry = undo["dryRun"]
    command = format_command("undo", str(import_id), *names)
    name = f"Import {import_id} ({outcome.file_name}, case {outcome.case!r})"
    if undo["status"] == "nothing_to_undo":
        yield f"{name} imported nothing; there is nothing to undo."
        return
    if outcome.was_undone_before:
        yield f"{name} was undone before: {_describe_counts(undo)}. Nothing was changed now."
        return
    if undo["status"] in _ENDED_EARLY:
        yield f"The {'dry run' if is_dry else 'undo'} of import {import_id} {_ENDED_EARLY[undo['status']]}"
        yield f"To undo the import: {command}"
        return
    if outcome.is_undo_itself:
        yield "This was not a dry run: an earlier command had begun the undo. Its result:"
    if is_dry and undo["status"] == "undo_failed":
        yield "Some parts of the dry run failed in every attempt: the counts are too low. Run it again."
    yield f"{name} {'would be' if is_dry else 'is'} {_describe_status(undo)}: {_describe_counts(undo)}"
    yield from map(_describe_reason, undo["reasons"])
    if outcome.kept:
        yield f"What {'would be' if is_dry else 'was'} kept, and why: {outcome.kept}"
    elif undo["kept"]:
        yield f"The list of what {'would be' if is_dry else 'was'} kept is not written yet. To download it: {command}"
    yield from _describe_others(undo)
    if is_dry:
        yield f"Nothing was changed. To undo it: {command}"
    elif undo["status"] != "undone":
        yield f"To undo the rest{' when nothing keeps it any more' if undo['reasons'] else ''}: {command}"


def _describe_reason(reason: Mapping[str, Any]) -> str:
    """Return a line for a reason; that of a newer version of the stack has its code alone."""
    text = _REASONS.get(reason["code"])
    return f"  {reason['code']}, {_count(reason['documents'])}{f': {text}' if text else ''}."


def _describe_others(undo: Undo) -> Iterator[str]:
    """Yield what other imports have to do with the documents."""
    if undo["statedBy"]:
        yield f"Values that other imports also contain stay: {_list_others(undo['statedBy'])}. This is not a conflict."
    if undo["foundUnchangedBy"]:
        did = "would remove or change" if undo["dryRun"] else "removed or changed"
        listed = _list_others(undo["foundUnchangedBy"])
        yield (
            f"These imports had rows that equalled documents which the undo {did}: {listed}. "
            "Import their files again if the case needs those rows."
        )
    if undo["unrecordedBy"]:
        listed = _list_others(undo["unrecordedBy"])
        yield (
            "These imports changed the restored documents later, with an earlier version of exhibit-ingest, which did"
            f" not record values that their rows repeated: {listed}."
            " If such a value is missing now, import their files again."
        )


def _list_others(others: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"import {each['importId']} ({'at most ' if each.get('atMost') else ''}{_count(each['documents'])})"
        for each in others
    )


def describe_import(import_record: Mapping[str, Any]) -> str:
    """Return what an undo would be of: the import, its file and case, and what it did to the case."""
    name = f"Import {import_record['id']} ({import_record['fileName']}, case {import_record['case']!r})"
    counts = f"{_count(import_record['imported'])} created, {import_record['updated']:,} changed"
    return f"{name}, of {import_record['startedAt'][:16].replace('T', ' ')} UTC by {import_record['userId']}: {counts}."


def describe_stopped(import_id: int, names: Sequence[str]) -> str:
    """Return what to do after the stack of an undo ended; importing the file again would bring its rows back."""
    return (
        "What was undone stays undone. Do not import the file again; the next command on this machine continues the "
        f"undo, or run it again: {format_command('undo', str(import_id), *names)}"
    )


def describe_going_on(import_id: int, names: Sequence[str]) -> str:
    """Return what to do after the command of an undo ended that goes on in its stack."""
    command = format_command("undo", str(import_id), *names)
    return f"the undo of import {import_id} goes on in the stack. To see its result: {command}"


def _describe_status(undo: Undo) -> str:
    if undo["status"] == "undo_failed" and not undo["dryRun"]:
        return "undone in part, because some parts failed in every attempt"
    return "undone in part" if undo["kept"] else "undone"


def _describe_counts(undo: Undo) -> str:
    links = undo["linksRestored"]
    counts = f"{_count(undo['removed'])} removed, {undo['restored']:,} restored, {undo['kept']:,} kept"
    return f"{counts}; {links:,} link{'' if links == 1 else 's'} to custodians and tags made again" if links else counts


def _count(documents: int) -> str:
    return f"{documents:,} document{'' if documents == 1 else 's'}"
