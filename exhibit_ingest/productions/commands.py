"""`exhibit-ingest productions` and `volume`: list, show, cancel, retry and download productions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from exhibit_ingest.catalog.finding import explain_unknown_case
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED
from exhibit_ingest.productions.download import Downloaded, download_volume
from exhibit_ingest.productions.following import check_waiting, choose_exit_code, follow_production
from exhibit_ingest.productions.output import (
    CROSSWALK_COLUMNS,
    LIST_COLUMNS,
    build_row,
    describe_facts,
    describe_next,
    describe_outcome,
)
from exhibit_ingest.productions.produce import check_confirmation
from exhibit_ingest.session.output import (
    clean,
    format_count,
    format_facts,
    format_json,
    print_list,
    report_errors,
    to_snake,
    write_csv,
)
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.session.tables import print_table

if TYPE_CHECKING:
    from exhibit_ingest.acts.status_line import StatusLine

_TABLE_ROWS = 50
_CROSSWALK = ("control_number", "first_number", "last_number", "pages", "status")
_ENDED = "ended meanwhile. Start it, then run this command again"
_QUESTION = "Cancel it? Its files are deleted, and its numbers are void for ever."


def run(options: argparse.Namespace, context: Context) -> int:
    """Run `productions` or `volume` and return its exit code. Raises CommandError."""
    return report_errors(options, lambda: _run(options, context))


def _run(options: argparse.Namespace, context: Context) -> int:
    action = "download" if options.command == "volume" else options.action
    if action == "cancel":
        check_confirmation(options)
    if action in ("cancel", "retry", "download"):
        return _run_with_line(options, context, action)
    with context.open(options, ended=_ENDED) as session:
        match action:
            case "show":
                return _report(options, session, _get(options, session), is_whole=True)
            case "crosswalk":
                return _list_crosswalk(options, session)
            case _:
                return _list(options, session)


def _run_with_line(options: argparse.Namespace, context: Context, action: str) -> int:
    """Run an action that takes time; the line that shows how far it is is gone before the result is printed."""
    from exhibit_ingest.acts.status_line import StatusLine

    with (
        StatusLine("Opening the stack ...", as_json=options.json) as line,
        context.open(options, ended=_ENDED) as session,
    ):
        if action == "download":
            done = _download(options, session, line)
        else:
            production = _change(options, session, line)
    if action == "download":
        return _report_download(options, done)
    if production is None:
        print("Nothing was changed.", file=sys.stderr)
        return FAILED
    code = _report(options, session, production, is_whole=False)
    # Of a retry any end is one that it can have: it also completes cancellations.
    return code if options.no_wait or action == "retry" else choose_exit_code(production, "cancelled")


def _get(options: argparse.Namespace, session: Session) -> dict[str, Any]:
    return session.api.request("GET", f"/productions/{options.production}")


def _list(options: argparse.Namespace, session: Session) -> int:
    try:
        _print_list(options, iterate(session.api, "/productions", options.limit, case=options.case))
    except ApiError as exc:
        if exc.code == "not-found" and options.case and (unknown := explain_unknown_case(session, options.case)):
            raise WrongUsageError(unknown) from exc
        raise
    return DONE


def _print_list(options: argparse.Namespace, found: Iterator[dict[str, Any]]) -> None:
    if options.json:
        print_list("productions", map(to_snake, found), sys.stdout)
        return
    listed = list(islice(found, options.limit or _TABLE_ROWS))
    print_table(LIST_COLUMNS, [build_row(each) for each in listed], sys.stdout)
    if options.limit is None and len(listed) == _TABLE_ROWS and next(found, None):
        print(f"These are the last {_TABLE_ROWS}; there are more: add --limit or --json.")


def _report(options: argparse.Namespace, session: Session, production: dict[str, Any], *, is_whole: bool) -> int:
    """Print a production; return the exit code of one that need not have ended."""
    if options.json:
        print(format_json({"production": to_snake(production)}))
    elif is_whole:
        facts = [f"Production {production['id']}", *format_facts(describe_facts(production))]
        print("\n".join([*facts, *describe_next(production, session)]))
    else:
        print("\n".join(describe_outcome(production, session)))
    return choose_exit_code(production, production["status"])


def _change(options: argparse.Namespace, session: Session, line: StatusLine) -> dict[str, Any] | None:
    """Cancel or retry the production, and follow it to its end; return None if the answer is no."""
    check_waiting(options, session)
    if options.action == "cancel" and not options.yes:
        facts = [f"Production {options.production}", *format_facts(describe_facts(_get(options, session)))]
        if not line.ask("\n".join(facts), _QUESTION):
            return None
    production = session.api.request("POST", f"/productions/{options.production}/{options.action}")
    return production if options.no_wait else follow_production(session, production, line)


def _download(options: argparse.Namespace, session: Session, line: StatusLine) -> Downloaded:
    production = _get(options, session)
    try:
        return download_volume(session, production, options.folder, line.show)
    except KeyboardInterrupt as exc:
        exc.add_note("Files that have arrived are kept; run the command again to get the others.")
        raise


def _report_download(options: argparse.Namespace, done: Downloaded) -> int:
    if options.json:
        print(format_json(_describe_download(options.production, done)))
    else:
        were = f"{done.already_there:,} were there already"
        text = f"{format_count(done.files, 'file')}: {done.downloaded:,} downloaded, {were}. All have their SHA-256."
        print(text, file=sys.stderr)
        print(done.folder)
    return DONE


def _describe_download(number: int, done: Downloaded) -> dict[str, Any]:
    return {
        "production": number,
        "folder": str(done.folder),
        "files": done.files,
        "bytes": done.bytes,
        "downloaded": done.downloaded,
        "already_there": done.already_there,
    }


def _list_crosswalk(options: argparse.Namespace, session: Session) -> int:
    rows = _iterate_crosswalk(options, session)
    if options.csv is not None:
        count = write_csv(options.csv, _CROSSWALK, (list(row.values()) for row in rows))
        if options.json:
            print(format_json({"production": options.production, "csv": str(options.csv), "documents": count}))
        else:
            print(f"{format_count(count, 'document')} of production {options.production}: {clean(options.csv, 1000)}")
    elif options.json:
        print_list("documents", rows, sys.stdout)
    else:
        names = [column.name for column in CROSSWALK_COLUMNS]
        print_table(CROSSWALK_COLUMNS, [dict(zip(names, _format_cells(row), strict=True)) for row in rows], sys.stdout)
    return DONE


def _iterate_crosswalk(options: argparse.Namespace, session: Session) -> Iterator[dict[str, Any]]:
    for each in iterate(session.api, f"/productions/{options.production}/documents"):
        values = (each["controlNumber"], each["batesBegin"], each["batesEnd"], each["pages"], each["status"])
        yield dict(zip(_CROSSWALK, values, strict=True))


def _format_cells(row: dict[str, Any]) -> list[str]:
    return ["" if value is None else str(value) for value in row.values()]
