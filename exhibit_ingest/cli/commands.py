"""The subcommands of `exhibit-ingest` other than `import` and `reset`; each function returns the exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from pydantic.alias_generators import to_camel

from core.exhibit_fields import FILTERED_TEXTS
from exhibit_ingest.cli import sam_local
from exhibit_ingest.cli.arguments import DEFAULT_WORKERS
from exhibit_ingest.cli.checks import check_name
from exhibit_ingest.cli.import_status import list_open_undos
from exhibit_ingest.cli.serve import print_unfinished, watch
from exhibit_ingest.cli.signals import Interrupted
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.confirmation import require_terminal
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.program import format_command
from exhibit_ingest.undo.output import describe, format_json
from exhibit_ingest.undo.resuming import describe_resumed, describe_stopped, resume_undos
from exhibit_ingest.undo.undo_session import UndoOutcome, undo_import
from local.errors import LocalError, StackBusyError, UsageError
from local.gateway.tokens import Tokens
from local.services.mysql_connection import describe_place
from local.services.state_lock import lock_state_directory
from local.stack import LocalStack
from local.stack.local_stack import SCHEMA
from local.stack.options import REPOSITORY
from local.stack.served_stack import publish_stack
from local.template.reader import Template

_DRY_RUN = "--dry-run shows what it would do"
_UNDO_EXITS = {"undone": DONE, "nothing_to_undo": DONE, "undone_with_conflicts": REJECTED}
# By the argument of `documents`: the filter of the API.
_FILTERS = {
    "case": "case",
    "control_number": "controlNumber",
    "custodian": "custodian",
    "tag": "tag",
    "import_id": "importId",
    "date_from": "dateFrom",
    "date_to": "dateTo",
    "bates_from": "batesFrom",
    "bates_to": "batesTo",
    "native": "hasNative",
    "text": "hasText",
    **{text.name: to_camel(text.name) for text in FILTERED_TEXTS},
}


def database_url(workspace: Workspace) -> int:
    """Print the URL of the database; start and migrate the private server where DATABASE_URL is not set.

    Raises StackBusyError when another command is starting or stopping the private server.
    """
    if workspace.database_url:
        print("DATABASE_URL is set. Its value:", file=sys.stderr)
        print(workspace.database_url)
        return DONE
    url, lifetime = _get_private_url(workspace)
    print(f"With a MySQL client: {workspace.server().access.build_client_command(SCHEMA)}", file=sys.stderr)
    print(lifetime, file=sys.stderr)
    print(url)
    return DONE


def _get_private_url(workspace: Workspace) -> tuple[str, str]:
    """Return the private server's URL and a sentence about how long the server runs.

    Starts and migrates the server, unless another command uses it.
    """
    try:
        with workspace.stack(keep_database=True, minimal=True) as stack:
            return stack.database_url, f"The private server keeps running. To stop it: {format_command('stop')}"
    except StackBusyError:
        # A server that stops between the two calls has no address any more.
        with contextlib.suppress(OSError):
            if workspace.server().is_running():
                url = workspace.server().url(SCHEMA)
                return url, "Another exhibit-ingest command uses this server and stops it at its end if it started it."
        raise


def serve(workspace: Workspace, port: int, workers: int) -> NoReturn:
    """Serve the API until a signal ends it. Raises LocalError when the port is in use or a part of the stack fails."""
    print("Starting the database, Redis, S3, SQS, SNS, the functions and the API ...", file=sys.stderr)
    with workspace.stack(workers=workers, api_port=port) as stack:
        try:
            folder = sam_local.write(stack)
            for each in resume_undos(stack, list_open_undos(stack.database_url)):
                print(describe_resumed(each), file=sys.stderr)
            with publish_stack(stack, os.getpid()):
                print(_describe_stack(stack, folder), flush=True)
                watch(stack)
        finally:
            sam_local.remove(stack.state_dir)
            stack.stop_work()
            print_unfinished(stack.database_url)


def _describe_stack(stack: LocalStack, sam_folder: Path) -> str:
    return f"""\
Console:   {_describe_console(stack)}
API:       {stack.api_url}
Token:     {format_command("token", "--tenant", "local", "--user", "me")}
Database:  {describe_place(stack.database_url)}; with its password: {format_command("database-url")}
Logs:      {stack.log_directory}
SAM local: {sam_folder / sam_local.TEMPLATE}, {sam_folder / sam_local.ENV_VARS} (see docs/first-session.md)
S3, SQS and SNS are in memory: uploads and messages are lost when this command ends. Imported rows are kept.
An import that is still running then cannot finish: cancel it and upload its file again.
Press Ctrl-C to stop."""


def _describe_console(stack: LocalStack) -> str:
    if (REPOSITORY / "functions" / "console_files" / "index.html").is_file():
        return f"{stack.console_url}  (this link signs in: keep it to yourself)"
    return "not built: run `make console`, then this command again, which prints its link"


def print_token(workspace: Workspace, tenant: str, user: str, role: str) -> int:
    """Print a token for the API of this state directory, valid for an hour; the API need not be running.

    Raises UsageError for a name.
    """
    for option, value in (("tenant", tenant), ("user", user)):
        check_name(option, value)
    tokens = Tokens.load(workspace.state_dir, Template.load(workspace.template))
    print(tokens.issue(tenant, user, roles=(role,)))
    return DONE


def stop(workspace: Workspace) -> int:
    """Stop the private server, if it is running."""
    with lock_state_directory(workspace.state_dir):
        stopped = workspace.server().stop()
    print("Stopped the private database server." if stopped else "The private database server is not running.")
    return DONE


def run_list(workspace: Workspace, options: argparse.Namespace) -> int:
    """Print the list that the command asks for. Raises UsageError for a wrong or unknown name, and LocalError."""
    for name in ("tenant", *(("case",) if options.command != "cases" else ())):
        check_name(name, getattr(options, name))
    with workspace.open_database() as url:
        from exhibit_ingest.catalog import lists

        match options.command:
            case "cases":
                lists.list_cases(url, options.tenant, as_json=options.json)
            case "imports":
                lists.list_imports(url, options.tenant, options.case, as_json=options.json)
            case "history":
                place = (options.tenant, options.case, options.control_number)
                lists.list_history(url, *place, limit=options.limit, as_json=options.json)
            case _:
                lists.list_documents(
                    url, options.tenant, _collect(options), limit=options.limit, csv=options.csv, as_json=options.json
                )
    return DONE


def _collect(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, argument) for argument, name in _FILTERS.items()}
    return {name: value for name, value in given.items() if value is not None}


def undo(workspace: Workspace, options: argparse.Namespace) -> int:
    """Undo an import in the stack of a running `serve`, or in one that runs for this command; print the result.

    Raises UsageError for a name, for an import that does not exist, and without a terminal to confirm it;
    LocalError, unless the result is printed as JSON, if the undo is refused.
    """
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    check_name("tenant", options.tenant)
    _require_confirmation(options)
    try:
        outcome = _undo(workspace, options)
    except UsageError:
        raise
    except (LocalError, Boto3Error, BotoCoreError, ClientError) as exc:
        if not options.json:
            raise LocalError(str(exc)) from exc
        print(format_json(options.import_id, None, str(exc), dry_run=options.dry_run))
        return FAILED
    if outcome is None:
        print("Nothing was undone.")
        return FAILED
    if options.json:
        print(format_json(options.import_id, outcome, None, dry_run=options.dry_run))
    else:
        print("\n".join(describe(options.import_id, outcome, options.tenant)))
    return _UNDO_EXITS.get(outcome.undo["status"], FAILED)


def _require_confirmation(options: argparse.Namespace) -> None:
    """Raise UsageError if the undo is neither confirmed nor a dry run, and no terminal can confirm it."""
    if options.dry_run or options.yes:
        return
    if options.json:
        raise UsageError(f"undo --json does not ask: confirm it with --yes; {_DRY_RUN}")
    require_terminal(f"undo changes the case: run it in a terminal, or confirm it with --yes; {_DRY_RUN}")


def _undo(workspace: Workspace, options: argparse.Namespace) -> UndoOutcome | None:
    """Return the outcome, None if the user does not confirm the undo."""
    from exhibit_ingest.undo.display import UndoDisplay

    display = UndoDisplay(confirmed=options.yes or options.dry_run, as_json=options.json)
    stopped = describe_stopped(options.import_id, options.tenant)
    try:
        with (
            contextlib.closing(workspace.connect(DEFAULT_WORKERS, f"ended during the undo. {stopped}")) as stack,
            display,
            stack,
        ):
            # The stack of `serve` has resumed them.
            found = list_open_undos(stack.database_url) if isinstance(stack, LocalStack) else []
            others = resume_undos(stack, [each for each in found if each.import_id != options.import_id])
            for each in others:
                display.show_resumed(each)
            return undo_import(
                stack,
                options.tenant,
                options.import_id,
                dry_run=options.dry_run,
                confirm=display.confirm,
                on_state=display.show,
                wait_for=others,
            )
    except Interrupted as interruption:
        interruption.add_note(stopped if display.has_begun else "nothing was undone.")
        raise
