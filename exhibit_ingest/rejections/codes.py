"""List what an import rejected, by code and column."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from exhibit_ingest.acts.imports import name_import, request_import
from exhibit_ingest.explained_codes import REJECTION, explain_codes
from exhibit_ingest.program import format_command
from exhibit_ingest.rejections.outcome import Outcome
from exhibit_ingest.session.following import Display
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import print_rows

_MEMBERS = {"first_line": "firstLine"}
_NAMES = ("code", "column", "count", "rows", "first_line", "message")


def list_codes(session: Session, options: argparse.Namespace, display: Display) -> Outcome:
    """Return what the import rejected. Raises CommandError."""
    state = request_import(session, "GET", options.import_id, "/progress")
    codes = request_import(session, "GET", options.import_id, "/codes")
    groups = [{name: each.get(_MEMBERS.get(name, name)) for name in _NAMES} for each in codes["rejections"]]
    document = {
        "import": state["id"],
        "rejected": state["rejected"],
        "open_rejections": state["openRejections"],
        "rejections": groups,
        "is_complete": codes["isComplete"],
    }
    return Outcome(document, lambda: _print(session, state, groups))


def _print(session: Session, state: Mapping[str, Any], groups: list[dict[str, Any]]) -> None:
    if not groups:
        print(f"{name_import(state)}: {_describe_none(state)}")
        return
    print(f"{name_import(state)}: {format_count(state['rejected'], 'row')} rejected, {state['openRejections']:,} open.")
    columns = ("code", "column", "count", "rows", "line", "for example")
    print_rows(columns, [(*each.values(),) for each in groups], numbers=("count", "rows", "line"))
    counts: Counter[str] = Counter()
    for each in groups:
        counts[each["code"]] += each["count"]
    for line in explain_codes(counts, REJECTION, of_images=state["kind"] == "images"):
        print(line)
    for step in _list_next_steps(session, state, groups):
        print(step)


def _describe_none(state: Mapping[str, Any]) -> str:
    if state["phase"] == "check":
        return "it was only checked; the check has its findings."
    return "no row was rejected."


def _list_next_steps(session: Session, state: Mapping[str, Any], groups: list[dict[str, Any]]) -> Iterator[str]:
    names, number = session.name_options(), str(state["id"])
    if state["corrects"] is not None:
        original = format_command("rejections", str(state["corrects"]), *names)
        yield f"These rows correct import {state['corrects']}. To correct them there: {original}"
        return
    yield f"To list the rows of a code: {format_command('rejections', number, '--code', groups[0]['code'], *names)}"
    if any(each["code"] == "CHUNK_FAILED" for each in groups):
        yield f"To import the rows of chunks that failed: {format_command('retry', number, *names)}"
    if state["openRejections"]:
        # A file of another suffix would not be taken for a load file.
        file = f"rejected-{number}{_get_suffix(state['fileName'])}"
        save = format_command("rejections", number, "--csv", file, *names)
        fix = format_command("rejections", number, "--fix", file, *names)
        yield f"To correct them: {save}, then edit {file}, then {fix}"


def _get_suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix}" if dot and stem else ""
