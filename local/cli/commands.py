"""The subcommands of `exhibit-ingest`; each function returns the exit code."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from local.cli import report_download, sam_local, upload_and_wait
from local.cli.import_status import ImportProgress, ImportProgressReader
from local.cli.progress import FileProgress, ProgressDisplay
from local.cli.serve import print_unfinished, watch
from local.cli.summary import ImportResult, format_json, print_table
from local.errors import ImportStalledError, LocalError, StackBusyError
from local.gateway.tokens import SECRET_FILE, Tokens
from local.services.mysql import PrivateServer
from local.services.state_lock import lock_state_directory
from local.stack import LocalStack, StackOptions
from local.stack.local_stack import SCHEMA
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.template.reader import Template
from local.time_scale import TimeScale

DONE, FAILED = 0, 1

# Six minutes of waiting after a crash in AWS are 18 seconds here; functions keep their full time limits.
_SCALE = TimeScale(factor=0.05, shortest_timeout=math.inf)
_SERVICE_ERRORS = (Boto3Error, BotoCoreError, ClientError, SQLAlchemyError)
_STATE_FILES = ("database", "logs", "reports", "demo", "lock", sam_local.FOLDER, SECRET_FILE)


@dataclass(frozen=True)
class Workspace:
    """The state directory, the template and the database of a command; `database_url` is None for the private one."""

    state_dir: Path = REPOSITORY / ".local"
    template: Path = DEFAULT_TEMPLATE
    database_url: str | None = None

    def stack(self, *, workers: int = 2, keep_database: bool = False, api_port: int = 0) -> LocalStack:
        """Return a stack that is not running yet."""
        return LocalStack(
            self.state_dir,
            StackOptions(
                workers=workers,
                time_scale=_SCALE,
                database_url=self.database_url,
                template=self.template,
                keep_database=keep_database,
                api_port=api_port,
            ),
        )

    def server(self) -> PrivateServer:
        """Return the private database server."""
        return PrivateServer(self.state_dir / "database")


@dataclass(frozen=True)
class ImportRequest:
    """The arguments of `import`."""

    files: Sequence[Path]
    tenant: str
    case: str
    options: dict[str, Any]
    workers: int
    json: bool


def import_files(workspace: Workspace, request: ImportRequest) -> int:
    """Import the files one after another: for a document that is in two of them the order matters.

    Raises LocalError when another command uses the state directory, unless the result is printed as JSON.
    """
    results: list[ImportResult] = []
    # With --json the progress display is off.
    console = Console(stderr=True, highlight=False, force_terminal=False if request.json else None)
    with contextlib.ExitStack() as running:
        display = running.enter_context(ProgressDisplay(console))
        try:
            display.note("Starting the database, S3, SQS, SNS and the functions ...")
            stack = running.enter_context(workspace.stack(workers=request.workers))
            states = running.enter_context(ImportProgressReader(stack.database_url))
            for file in request.files:
                results.append(_import_one(stack, states, request, file, display))
        except (LocalError, *_SERVICE_ERRORS) as exc:
            if isinstance(exc, StackBusyError) and not request.json:
                raise
            results += [ImportResult(file, None, _describe_error(exc), 0.0) for file in request.files[len(results) :]]
    if request.json:
        print(format_json(results))
    else:
        print_table(results, sys.stdout)
    return FAILED if any(result.failed for result in results) else DONE


def _import_one(
    stack: LocalStack, states: ImportProgressReader, request: ImportRequest, file: Path, display: ProgressDisplay
) -> ImportResult:
    line = display.add_file(file.name)
    read_state = None
    began = time.monotonic()
    try:
        upload = upload_and_wait.upload_load_file(stack, file, request.tenant, request.case, request.options)
        read_state = upload_and_wait.build_state_reader(states, upload)
        state = upload_and_wait.wait_for_import(stack, read_state, build_state_display(stack, line, display))
    except (ImportStalledError, OSError) as exc:
        return ImportResult(file, read_state() if read_state else None, str(exc), time.monotonic() - began)
    seconds = time.monotonic() - began
    if state.failed:
        return ImportResult(file, state, _describe_failure(state), seconds)
    reports = report_download.download(stack.s3, stack.bucket, state, stack.state_dir / "reports")
    return ImportResult(file, state, None, seconds, reports)


def _describe_error(error: Exception) -> str:
    """Return the message for the user; of a database error, the number and message of the server or driver."""
    if isinstance(error, DBAPIError) and error.orig is not None and len(error.orig.args) > 1:
        number, message = error.orig.args[:2]
        return f"database error {number}: {message}; check DATABASE_URL and that the server is running"
    return str(error)


def _describe_failure(state: ImportProgress) -> str:
    return f"{state.failure_code}: {state.failure_message}" if state.failure_code else f"the import was {state.status}"


def build_state_display(stack: LocalStack, line: FileProgress, display: ProgressDisplay) -> upload_and_wait.OnState:
    """Return a callback that shows an import's state and the stack's failed invocations."""

    def on_state(state: ImportProgress | None) -> None:
        line.show(state)
        display.show_failures(stack.failures())

    return on_state


def database_url(workspace: Workspace) -> int:
    """Print the URL of the database; start and migrate the private server where DATABASE_URL is not set.

    Raises StackBusyError when another command is starting or stopping the private server.
    """
    if workspace.database_url:
        print("DATABASE_URL is set. Its value:", file=sys.stderr)
        print(workspace.database_url)
        return DONE
    url, lifetime = _get_private_url(workspace)
    parsed = make_url(url)
    client = f"mysql --protocol=tcp -h {parsed.host} -P {parsed.port} -u {parsed.username} {parsed.database}"
    print(f"With a MySQL client: {client}", file=sys.stderr)
    print(lifetime, file=sys.stderr)
    print(url)
    return DONE


def _get_private_url(workspace: Workspace) -> tuple[str, str]:
    """Return the private server's URL and a sentence about how long the server runs.

    Starts and migrates the server, unless another command uses it.
    """
    try:
        with workspace.stack(keep_database=True) as stack:
            return stack.database_url, "The private server keeps running. To stop it: exhibit-ingest stop"
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
            print(_describe_stack(stack, sam_local.write(stack)), flush=True)
            watch(stack)
        finally:
            sam_local.remove(stack.state_dir)
            stack.stop_work()
            print_unfinished(stack.database_url)


def _describe_stack(stack: LocalStack, sam_folder: Path) -> str:
    return f"""\
API:       {stack.api_url}
Token:     .venv/bin/exhibit-ingest token --tenant acme --user me
Database:  {stack.database_url}
Logs:      {stack.log_directory}
SAM local: {sam_folder / sam_local.TEMPLATE}, {sam_folder / sam_local.ENV_VARS} (see README.md)
S3, SQS and SNS are in memory: uploads and messages are lost when this command ends. Imported rows are kept.
An import that is still running then cannot finish: cancel it and upload its file again.
Press Ctrl-C to stop."""


def print_token(workspace: Workspace, tenant: str, user: str) -> int:
    """Print a token for the API of this state directory, valid for an hour; the API need not be running."""
    print(Tokens.load(workspace.state_dir, Template.load(workspace.template)).issue(tenant, user))
    return DONE


def stop(workspace: Workspace) -> int:
    """Stop the private server, if it is running."""
    with lock_state_directory(workspace.state_dir):
        stopped = workspace.server().stop()
    print("Stopped the private database server." if stopped else "The private database server is not running.")
    return DONE


def reset(workspace: Workspace) -> int:
    """Stop the private server and delete all files that the command keeps on this machine."""
    if workspace.state_dir.exists():
        with lock_state_directory(workspace.state_dir):
            workspace.server().stop()
            for name in _STATE_FILES:
                _remove(workspace.state_dir / name)
        with contextlib.suppress(OSError):
            workspace.state_dir.rmdir()
    print(f"Deleted the private database, the logs, the reports and the token secret in {workspace.state_dir}.")
    if workspace.database_url:
        print("DATABASE_URL is set. The database that it names was not touched.", file=sys.stderr)
    return DONE


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
