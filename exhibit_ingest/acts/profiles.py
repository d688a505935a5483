"""`exhibit-ingest profiles`: list, show, save, copy and delete mapping profiles."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exhibit_ingest.confirmation import require_terminal
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Document
from exhibit_ingest.session.output import format_time, print_json, report_errors
from exhibit_ingest.session.pages import build_query, iterate
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.session.tables import print_rows

if TYPE_CHECKING:
    from exhibit_ingest.acts.status_line import StatusLine


def run_profiles(options: argparse.Namespace, context: Context) -> int:
    """Run the action, print the result, and return the exit code. Raises CommandError without --json."""
    member = "profiles" if options.action == "list" else "profile"

    def describe(error: str) -> Mapping[str, Any]:
        return {member: [] if member == "profiles" else None, "error": error}

    return report_errors(options, lambda: _run(options, context), describe)


def _run(options: argparse.Namespace, context: Context) -> int:
    from exhibit_ingest.acts.status_line import StatusLine

    _check(options)
    with (
        StatusLine("Opening the stack ...", as_json=options.json) as line,
        context.open(options, workers=1, ended="ended meanwhile. Start it, and run this command again") as session,
    ):
        is_list = options.action == "list"
        found = list(iterate(session.api, "/profiles")) if is_list else [_act(session, options, line)]
    _print(options, found, session.name_options())
    return DONE


def _check(options: argparse.Namespace) -> None:
    """Raise WrongUsageError unless the action has what it needs, and no more."""
    action = options.action
    needed = {"name": action != "list", "new_name": action == "copy", "import_id": action == "save"}
    words = {"name": "NAME", "new_name": "NEW_NAME", "import_id": "--import IMPORT"}
    for member, is_needed in needed.items():
        if is_needed and getattr(options, member) is None:
            raise WrongUsageError(f"profiles {action} needs {words[member]}")
        if not is_needed and getattr(options, member) is not None:
            raise WrongUsageError(f"profiles {action} takes no {words[member]}")


def _act(session: Session, options: argparse.Namespace, line: StatusLine) -> Document:
    match options.action:
        case "show":
            return _require(session, options.name)
        case "save":
            return _save(session, options, line)
        case "copy":
            found = _require(session, options.name)
            body = {name: found[name] for name in ("options", "headerFingerprint") if found[name] is not None}
            return session.api.request("POST", "/profiles", {"name": options.new_name, **_drop_nulls(body)})
        case _:
            found = _require(session, options.name)
            _confirm(options, line, found, "deleted", "Delete it?")
            return session.api.request("DELETE", f"/profiles/{found['id']}", if_match=_tag(found))


def _save(session: Session, options: argparse.Namespace, line: StatusLine) -> Document:
    body = {"name": options.name, "importId": options.import_id}
    found = _find(session, options.name)
    if found is None:
        return session.api.request("POST", "/profiles", body)
    _confirm(options, line, found, "replaced", f"Replace it by how the file of import {options.import_id} was read?")
    return session.api.request("PUT", f"/profiles/{found['id']}", body, if_match=_tag(found))


def _confirm(options: argparse.Namespace, line: StatusLine, found: Document, done: str, question: str) -> None:
    """Return if this version may be changed; raise CommandError after a no, WrongUsageError without a terminal."""
    if options.yes:
        return
    if options.json:
        raise WrongUsageError(f"profiles {options.action} --json does not ask: confirm it with --yes")
    require_terminal(f"the profile would be {done}: run it in a terminal, or confirm it with --yes")
    if not line.ask(f"Profile {found['name']!r} has version {found['version']}, {_describe_change(found)}.", question):
        raise CommandError(f"Nothing was {done}.")


def _require(session: Session, name: str) -> Document:
    found = _find(session, name)
    if found is None:
        listed = format_command("profiles", *session.name_options())
        raise WrongUsageError(f"there is no profile {name!r}; the profiles are listed by: {listed}")
    return found


def _find(session: Session, name: str) -> Document | None:
    items = session.api.request("GET", f"/profiles{build_query({'name': name})}")["items"]
    return next(iter(items), None)


def _tag(found: Document) -> str:
    return f'"{found["version"]}"'


def _drop_nulls(value: Any) -> Any:
    """Return a document without the members that are null, which a request does not have."""
    if isinstance(value, dict):
        return {name: _drop_nulls(each) for name, each in value.items() if each is not None}
    return value


def _print(options: argparse.Namespace, found: list[Document], names: list[str]) -> None:
    if options.action == "list":
        _print_list(options, found, names)
        return
    [profile] = found
    described = _describe(profile)
    if options.json:
        print_json({"profile": described})
    elif options.action == "show":
        print(f"{profile['name']}, version {profile['version']}, {_describe_change(profile)}")
        print_rows(("option", "value"), list(_list_options(described["options"])))
    else:
        verbs = {"save": "saved as", "copy": "copied to", "delete": "deleted:"}
        print(f"The profile is {verbs[options.action]} {profile['name']!r}, version {profile['version']}.")


def _print_list(options: argparse.Namespace, found: list[Document], names: list[str]) -> None:
    if options.json:
        print_json({"profiles": [_summarize(each) for each in found]})
    elif not found:
        save = format_command("profiles", "save", "NAME", "--import", "N", *names)
        print(f"There is no profile yet. To save one: {save}")
    else:
        rows = [(*each.values(),) for each in map(_summarize, found)]
        table = [(*row[:-1], format_time(row[-1])) for row in rows]
        print_rows(("name", "version", "columns", "updated by", "updated at"), table, numbers=("version", "columns"))


def _summarize(profile: Document) -> Document:
    return {
        "name": profile["name"],
        "version": profile["version"],
        "columns": len(profile["options"].get("columns") or {}),
        "updated_by": profile["updatedByName"] or profile["updatedBy"],
        "updated_at": profile["updatedAt"],
    }


def _describe(profile: Document) -> Document:
    """Return the profile with its options as --mapping reads them."""
    options = _drop_nulls(profile["options"])
    return {
        "name": profile["name"],
        "version": profile["version"],
        "options": {_to_snake(name): value for name, value in options.items() if value != {}},
        **{_to_snake(name): profile[name] for name in ("createdBy", "createdAt", "updatedBy", "updatedAt")},
    }


def _describe_change(profile: Document) -> str:
    return f"changed last by {profile['updatedByName'] or profile['updatedBy']}, {format_time(profile['updatedAt'])}"


def _list_options(options: Mapping[str, Any]) -> list[tuple[str, object]]:
    columns = options.get("columns", {})
    plain = [(name, value) for name, value in options.items() if name != "columns"]
    return [*plain, *((f"column {name}", field) for name, field in columns.items())]


def _to_snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()
