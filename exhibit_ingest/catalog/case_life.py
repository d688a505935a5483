"""`exhibit-ingest cases`: list the cases; rename, close, reopen, hold and purge one, and show its certificate."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from exhibit_ingest.catalog.finding import explain_unknown_case
from exhibit_ingest.catalog.lists import describe_status, print_catalog
from exhibit_ingest.catalog.values import quote
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.program import format_command
from exhibit_ingest.session.output import format_count, format_time, open_draft, print_json, to_snake, write_csv
from exhibit_ingest.session.pages import build_query
from exhibit_ingest.session.session import Session

_NEEDED = {"rename": "new_name", "hold": "reason", "purge": "confirm"}
_WORDS = {"name": "CASE", "new_name": "NEW_NAME", "reason": "--reason TEXT", "confirm": "--confirm CASE"}
_MEMBERS = ("id", "name", "status", "hold", "purge")
_CERTIFICATE = ("section", "name", "count", "delete markers", "multipart uploads", "bytes", "sha256", "until", "note")
_FACTS = ("caseId", "requestedBy", "requestedAt", "beganAt", "endedAt", "nextAt", "sha256")


def check_action(options: argparse.Namespace) -> None:
    """Raise WrongUsageError unless the action has what it needs, and no more."""
    action = options.action
    for member, words in _WORDS.items():
        is_needed = action != "list" if member == "name" else _NEEDED.get(action) == member
        if is_needed and not getattr(options, member):
            raise WrongUsageError(f"cases {action} needs {words}")
        if not is_needed and getattr(options, member) is not None:
            raise WrongUsageError(f"cases {action} takes no {words}")
    if options.after is not None and action != "purge":
        raise WrongUsageError(f"cases {action} takes no --after DAY")
    if options.output is not None and action != "certificate":
        raise WrongUsageError(f"cases {action} takes no --output FILE")
    if action == "certificate" and not options.name.isdecimal():
        raise WrongUsageError("cases certificate takes the id of the case, which `cases purge --json` prints")


def run_cases(session: Session, options: argparse.Namespace) -> int:
    """List the cases, or carry out the action, and print the result. Raises CommandError."""
    if options.action == "list":
        return print_catalog(session, options)
    if options.action == "certificate":
        return _print_certificate(session, options, int(options.name))
    found = _require(session, options.name)
    case = _act(session, options, found)
    if options.json:
        print_json({"case": {name: case[name] for name in _MEMBERS}})
        return DONE
    print(f"The case {quote(case['name'])} is {describe_status(case)['status']}.")
    if case["purge"]:
        taken_back = format_command("cases", "withdraw", case["name"], *session.name_options())
        print(f"Until the purge begins, it is taken back by: {taken_back}")
    return DONE


def _require(session: Session, name: str) -> dict[str, Any]:
    found = session.api.request("GET", f"/cases/similar{build_query({'name': name})}")["exact"]
    if found is None:
        raise WrongUsageError(explain_unknown_case(session, name) or f"There is no case {quote(name)}.")
    return dict(found)


def _act(session: Session, options: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    place, changes = f"/cases/{found['id']}", _build_change(options)
    if options.action == "withdraw":
        return session.api.request("DELETE", f"{place}/purge")
    if options.action == "purge":
        after = {} if options.after is None else {"after": options.after}
        return session.api.request("POST", f"{place}/purge", {"confirm": options.confirm, **after})
    return session.api.request("PATCH", place, changes, if_match=f'"{found["version"]}"')


def _build_change(options: argparse.Namespace) -> dict[str, Any]:
    """Return the body of the change that the action is."""
    match options.action:
        case "rename":
            return {"name": options.new_name}
        case "hold":
            return {"hold": {"reason": options.reason}}
        case "lift":
            return {"hold": None}
        case action:
            return {"status": "closed" if action == "close" else "open"}


def _print_certificate(session: Session, options: argparse.Namespace, case_id: int) -> int:
    """Print the certificate of a purge, and write it to the file: a table if that is a .csv, else JSON."""
    found = session.api.request("GET", f"/cases/{case_id}/certificate")
    if options.output is not None and options.output.suffix.lower() == ".csv":
        write_csv(options.output, _CERTIFICATE, _list_certificate(found))
    elif options.output is not None:
        with open_draft(options.output) as draft:
            draft.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.json:
        print_json({"certificate": to_snake(found)})
    else:
        for line in _describe_certificate(found):
            print(line)
    return DONE


def _describe_certificate(found: dict[str, Any]) -> Iterator[str]:
    rows = sum(each["rows"] for each in found["rows"])
    versions = sum(each["versions"] for each in found["objects"])
    size = sum(each["bytes"] for each in found["objects"])
    yield f"Destroyed: {format_count(rows, 'row')}, {format_count(versions, 'version')} of objects, {size:,} bytes."
    if found["locked"]:
        locked = format_count(found["locked"]["versions"], "version")
        yield f"Not destroyed: {locked} under Object Lock, until {format_time(found['locked']['until']) or 'released'}."
    for each in found["remains"]:
        yield f"Remains: {each['what']}{_format_until(each['until'])}. {each['note']}"
    if found["endedAt"] is None:
        yield f"The purge has not ended: these are the counts so far. It goes on {format_time(found['nextAt'])} (UTC)."
    else:
        yield f"The purge has ended {format_time(found['endedAt'])} (UTC). SHA-256 {found['sha256']}"


def _format_until(until: str | None) -> str:
    return f" until {format_time(until)} (UTC)" if until else ""


def _list_certificate(found: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for name in _FACTS:
        yield ("purge", name, *[""] * 6, found[name])
    for each in found["rows"]:
        yield "rows", each["table"], each["rows"], "", "", "", each["sha256"], "", ""
    for each in found["objects"]:
        counts = (each["versions"], each["deleteMarkers"], each["multipartUploads"], each["bytes"])
        yield "objects", each["kind"], *counts, each["sha256"], "", ""
    if locked := found["locked"]:
        yield "locked", "versions", locked["versions"], "", "", locked["bytes"], "", locked["until"], ""
    for each in found["kept"]:
        yield ("kept", each["table"], *[""] * 6, each["content"])
    for each in found["remains"]:
        yield ("remains", each["what"], *[""] * 5, each["until"], each["note"])
