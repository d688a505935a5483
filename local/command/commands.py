"""The commands of the stack of this machine; each function returns the exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import NoReturn

from exhibit_ingest.arguments import DEFAULT_WORKERS
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.importing.checks import check_name
from exhibit_ingest.program import format_command
from exhibit_ingest.session.session import Context
from local.command import sam_local
from local.command.resuming import describe_resumed, resume_undos
from local.command.serve import print_unfinished, watch
from local.command.unfinished import list_open_undos
from local.command.workspace import Workspace, find_workspace
from local.errors import LocalError, StackBusyError, UsageError
from local.gateway.tokens import Tokens
from local.services.mysql_connection import describe_place
from local.services.state_lock import lock_state_directory
from local.stack import LocalStack
from local.stack.local_stack import SCHEMA
from local.stack.options import REPOSITORY
from local.stack.served_stack import publish_stack
from local.template.reader import Template


def run(options: argparse.Namespace, context: Context) -> int:
    """Run the command and return its exit code. Raises CommandError."""
    try:
        return _run(options, context)
    except UsageError as exc:
        raise WrongUsageError(str(exc)) from exc
    except LocalError as exc:
        raise CommandError(str(exc)) from exc


def _run(options: argparse.Namespace, context: Context) -> int:
    workspace = context.own if isinstance(context.own, Workspace) else find_workspace()
    match options.command:
        case "database-url":
            return database_url(workspace, tcp=options.tcp)
        case "serve" if options.install:
            from local.command.preservation import install_service

            return install_service(options.port, os.environ)
        case "backup" | "restore":
            from local.command.preservation import run_preservation

            return run_preservation(workspace, options)
        case "serve":
            return serve(workspace, options.port, options.workers or DEFAULT_WORKERS, tcp=options.tcp)
        case "token":
            return print_token(workspace, options.tenant, options.user, options.role)
        case "stop":
            return stop(workspace)
        case _:
            from local.command.reset import reset

            return reset(workspace, confirmed=options.yes)


def database_url(workspace: Workspace, *, tcp: bool = False) -> int:
    """Print the URL of the database; start and migrate the private server where DATABASE_URL is not set.

    With `tcp` the server has a port, unless another command that uses it has started it without one.

    Raises StackBusyError when another command is starting or stopping the private server.
    """
    if workspace.database_url:
        print("DATABASE_URL is set. Its value:", file=sys.stderr)
        print(workspace.database_url)
        return DONE
    url, lifetime = _get_private_url(workspace, tcp=tcp)
    print(f"With a MySQL client: {workspace.server().access.build_client_command(SCHEMA)}", file=sys.stderr)
    print(lifetime, file=sys.stderr)
    print(url)
    return DONE


def _get_private_url(workspace: Workspace, *, tcp: bool) -> tuple[str, str]:
    """Return the private server's URL and a sentence about how long the server runs.

    Starts and migrates the server, unless another command uses it.
    """
    try:
        with workspace.stack(keep_database=True, minimal=True, tcp=tcp) as stack:
            return stack.database_url, f"The private server keeps running. To stop it: {format_command('stop')}"
    except StackBusyError:
        # A server that stops between the two calls has no address any more.
        with contextlib.suppress(OSError):
            if workspace.server().is_running():
                url = workspace.server().url(SCHEMA)
                return url, "Another exhibit-ingest command uses this server and stops it at its end if it started it."
        raise


def serve(workspace: Workspace, port: int, workers: int, *, tcp: bool = False) -> NoReturn:
    """Serve the API until a signal ends it. Raises LocalError when the port is in use or a part of the stack fails.

    With `tcp` the private database has a port, which containers of SAM need.
    """
    print("Starting the database, Redis, S3, SQS, SNS, the functions and the API ...", file=sys.stderr)
    with workspace.stack(workers=workers, api_port=port, tcp=tcp) as stack:
        try:
            folder = sam_local.write(stack) if tcp or workspace.database_url else None
            for each in resume_undos(stack, list_open_undos(stack.database_url)):
                print(describe_resumed(each), file=sys.stderr)
            with publish_stack(stack, os.getpid()):
                print(_describe_stack(stack, folder), flush=True)
                watch(stack)
        finally:
            sam_local.remove(stack.state_dir)
            stack.stop_work()
            print_unfinished(stack.database_url)


def _describe_stack(stack: LocalStack, sam_folder: Path | None) -> str:
    sam = "start with --tcp, which gives the database a port"
    if sam_folder:
        sam = f"{sam_folder / sam_local.TEMPLATE}, {sam_folder / sam_local.ENV_VARS} (see docs/first-session.md)"
    return f"""\
Console:   {_describe_console(stack)}
API:       {stack.api_url}
Token:     {format_command("token", "--tenant", "local", "--user", "me")}
Database:  {describe_place(stack.database_url)}; with its password: {format_command("database-url")}
Logs:      {stack.log_directory}
SAM local: {sam}
Kept:      files, rows and queued work; what has not finished when this command ends goes on with the next one.
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
