"""The command `exhibit-ingest`: arguments, signals and exit codes.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 an import has rejected rows.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import errno
import gc
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exhibit_ingest.cli.arguments import DEFAULT_WORKERS, build_parser
from exhibit_ingest.cli.checks import check_corrections, check_load_file, check_name, check_readable
from exhibit_ingest.cli.signals import Interrupted, interrupt_on_signals
from exhibit_ingest.errors import CommandError
from exhibit_ingest.exit_codes import DONE, FAILED, WRONG_USAGE
from exhibit_ingest.program import format_command
from exhibit_ingest.sign_in.arguments import SIGN_IN_COMMANDS
from exhibit_ingest.volumes.arguments import FILE_OPTIONS, build_settings, check_volume_arguments, is_volume
from local.errors import LocalError, UsageError

# Everything else is imported when a command needs it: --help takes no time.
if TYPE_CHECKING:
    from exhibit_ingest.cli.workspace import Workspace
    from exhibit_ingest.import_request import ImportRequest

_STOPPED = (
    "everything that it started is stopped. Rows imported so far are kept."
    " Import the file again to get the remaining rows."
)
_URL_FORM = "set it in the form mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4"


def main(arguments: Sequence[str] | None = None, workspace: Workspace | None = None) -> int:
    """Run the command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = build_parser().parse_args(given)
    except UsageError as exc:
        return _report_usage(exc, "", given)
    # Collecting garbage at the exit would take a tenth of a second and free nothing that is needed.
    atexit.register(gc.freeze)
    try:
        with interrupt_on_signals():
            return _run(options, workspace)
    except UsageError as exc:
        return _report_usage(exc, f"For help: {format_command(options.command, '--help')}", given)
    except LocalError as exc:
        print(f"exhibit-ingest: error: {exc}", file=sys.stderr)
        return FAILED
    except CommandError as exc:
        print(f"exhibit-ingest: error: {exc}", file=sys.stderr)
        return exc.exit_code
    except OSError as exc:
        if exc.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"exhibit-ingest: error: {exc}; free some space and run the command again", file=sys.stderr)
        return FAILED
    except Interrupted as exc:
        return _report_interruption(options.command, exc)


def _report_usage(error: UsageError, advice: str, given: Sequence[str]) -> int:
    """Print what is wrong with the command line, and return the exit code."""
    if "--json" in given and given[0] == "preview":
        failure = {"code": None, "message": str(error)}
        print(json.dumps({"preview": None, "error": failure}, ensure_ascii=False, indent=2))
    elif "--json" in given and given[0] == "undo":
        print(json.dumps({"import": None, "status": "undo_failed", "error": str(error)}, ensure_ascii=False, indent=2))
    elif "--json" in given and given[0] in SIGN_IN_COMMANDS:
        print(json.dumps({"error": str(error)}, ensure_ascii=False, indent=2))
    elif "--json" in given:
        members = {"check": "checks", "cases": "cases", "documents": "documents", "history": "history"}
        member = members.get(given[0], "imports")
        print(json.dumps({member: [], "error": str(error)}, ensure_ascii=False, indent=2))
    else:
        usage: list[str] = getattr(error, "__notes__", [])
        print("\n".join([*usage, f"exhibit-ingest: error: {error}", advice]).rstrip(), file=sys.stderr)
    return WRONG_USAGE


def _open_workspace() -> Workspace:
    from exhibit_ingest.cli.workspace import Workspace

    return Workspace(database_url=_check_database_url(os.environ.get("DATABASE_URL")))


def _report_interruption(command: str, interruption: Interrupted) -> int:
    """Print that a signal ended the command, and return the exit code."""
    number = interruption.signal
    if command == "serve":
        print("exhibit-ingest: stopped, with everything that it started.", file=sys.stderr)
        return DONE if number == signal.SIGINT else 128 + number
    if command in SIGN_IN_COMMANDS:
        print("exhibit-ingest: interrupted; run the command again.", file=sys.stderr)
        return 128 + number
    # An import has noted what it has cancelled.
    notes: list[str] = getattr(interruption, "__notes__", [])
    print(f"exhibit-ingest: interrupted; {' '.join(notes) or _STOPPED}", file=sys.stderr)
    return 128 + number


def _run(options: argparse.Namespace, given: Workspace | None) -> int:
    if options.command in SIGN_IN_COMMANDS:
        from exhibit_ingest.sign_in.commands import run

        return run(options)
    if options.command == "preview":
        return _preview(options, given)
    return _run_in_workspace(given or _open_workspace(), options)


def _run_in_workspace(workspace: Workspace, options: argparse.Namespace) -> int:
    if options.command in ("import", "check"):
        return _import(workspace, options)
    from exhibit_ingest.cli import commands

    if options.command == "undo":
        return commands.undo(workspace, options)
    match options.command:
        case "database-url":
            return commands.database_url(workspace)
        case "serve":
            return commands.serve(workspace, options.port, options.workers or DEFAULT_WORKERS)
        case "token":
            return commands.print_token(workspace, options.tenant, options.user, options.role)
        case "volume":
            from exhibit_ingest.cli.volume_download import download_volume

            return download_volume(workspace, options.production, options.folder)
        case "cases" | "imports" | "documents" | "history":
            return commands.run_list(workspace, options)
        case "stop":
            return commands.stop(workspace)
        case _:
            from exhibit_ingest.cli.reset import reset

            return reset(workspace, confirmed=options.yes)


def _import(workspace: Workspace, options: argparse.Namespace) -> int:
    request = _build_request(options)
    if check_volume_arguments(options):
        from exhibit_ingest.cli.volume_import import import_volumes

        return import_volumes(workspace, request, build_settings(options))
    from exhibit_ingest.cli.import_files import import_files

    return import_files(workspace, request)


def _preview(options: argparse.Namespace, given: Workspace | None) -> int:
    if not options.file.is_dir():
        check_readable(options.file)
    options.files = [options.file]
    is_of_volume = check_volume_arguments(options)
    document = _read_import_options(options)
    if options.profile is not None:
        check_name("tenant", options.tenant)
        document = _apply_profile(given or _open_workspace(), options, document)
    if is_of_volume:
        from exhibit_ingest.preview.preview_volume import preview_volume

        settings = build_settings(options)
        return DONE if preview_volume(options.file, document, settings, as_json=options.json) else FAILED
    from exhibit_ingest.preview.preview_file import preview_file

    return DONE if preview_file(options.file, document, as_json=options.json) else FAILED


def _apply_profile(workspace: Workspace, options: argparse.Namespace, document: dict[str, Any]) -> dict[str, Any]:
    """Return the options with those of the profile, which is in the database: a stack is started if none runs."""
    from exhibit_ingest.profiles import apply_profile

    with contextlib.closing(workspace.connect(1)) as stack, stack:
        return apply_profile(stack, options.tenant, options.profile, document)


def _read_import_options(options: argparse.Namespace) -> dict[str, Any]:
    from exhibit_ingest.cli.import_options import import_options

    return import_options(
        options.mapping,
        encoding=options.encoding,
        delimiter=options.delimiter,
        qualifier=options.qualifier,
        time_zone=options.time_zone,
        date_format=options.date_format,
        multi_value_separator=options.multi_value_separator,
        nested_separator=options.nested_separator,
        header_line=options.header_line,
        mode=options.mode,
        overlay_key=options.overlay_key,
        blanks=options.blanks,
        multi_values=options.multi_values,
        **{name: getattr(options, name, None) for name in FILE_OPTIONS},
    )


def _check_file(file: Path, options: argparse.Namespace) -> None:
    if file.is_dir():
        return
    if is_volume(file):
        check_readable(file)
    else:
        check_load_file(file, options.tenant, options.case)


def _build_request(options: argparse.Namespace) -> ImportRequest:
    for name in ("case", "tenant"):
        check_name(name, getattr(options, name))
    check_volume_arguments(options)
    for file in options.files:
        _check_file(file, options)
    from exhibit_ingest.import_request import ImportRequest

    is_check = options.command == "check"
    document = _read_import_options(options)
    if options.corrects is not None:
        check_corrections(options.files, options.corrects, options.profile)
        document["corrects"] = options.corrects
    return ImportRequest(
        files=options.files,
        tenant=options.tenant,
        case=options.case,
        options={**document, "dry_run": True} if is_check else document,
        workers=options.workers,
        json=options.json,
        is_check=is_check,
        create_case=options.create_case,
        profile=options.profile,
        save_profile=options.save_profile,
    )


def _check_database_url(url: str | None) -> str | None:
    """Return the user's DATABASE_URL, None where it is empty or not set; raises UsageError where it cannot be used."""
    if not url:
        return None
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except ArgumentError as exc:
        raise UsageError(f"DATABASE_URL is not a valid URL; {_URL_FORM}") from exc
    if parsed.drivername != "mysql+pymysql" or not parsed.database:
        raise UsageError(f"DATABASE_URL must name the driver mysql+pymysql and a schema; {_URL_FORM}")
    return url


if __name__ == "__main__":
    sys.exit(main())
