"""What each subcommand does; each gives the command's exit code."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from local import reports, sam_local, uploads
from local.database import PrivateServer
from local.errors import ImportStalledError, LocalError, StackBusyError
from local.import_states import ImportState, ImportStates
from local.lock import exclusive
from local.progress import FileProgress, ProgressDisplay
from local.serve import tell_unfinished, watch
from local.stack import DEFAULT_TEMPLATE, REPOSITORY, SCHEMA, LocalStack
from local.summary import Outcome, as_json, print_table
from local.template import Template
from local.time_scale import TimeScale
from local.tokens import SECRET_FILE, Tokens

DONE, FAILED = 0, 1

# Nobody wants to wait six minutes after a crash on their own machine; but work gets all the time that AWS gives it.
_SCALE = TimeScale(factor=0.05, shortest_timeout=math.inf)
_SERVICE_ERRORS = (Boto3Error, BotoCoreError, ClientError, SQLAlchemyError)
_OURS = ("database", "logs", "reports", "demo", "lock", sam_local.FOLDER, SECRET_FILE)


@dataclass(frozen=True)
class Place:
    """Where the command works; `database_url` is the user's own, if there is one."""

    state_dir: Path = REPOSITORY / ".local"
    template: Path = DEFAULT_TEMPLATE
    database_url: str | None = None

    def stack(self, *, workers: int = 2, outlive: bool = False, api_port: int = 0) -> LocalStack:
        """A stack that is not running yet."""
        return LocalStack(
            self.state_dir,
            workers=workers,
            time_scale=_SCALE,
            database_url=self.database_url,
            template=self.template,
            outlive=outlive,
            api_port=api_port,
        )

    def server(self) -> PrivateServer:
        """The private database server."""
        return PrivateServer(self.state_dir / "database")


@dataclass(frozen=True)
class ImportRequest:
    """What `import` was asked to do."""

    files: Sequence[Path]
    tenant: str
    case: str
    options: dict[str, Any]
    workers: int
    json: bool


def import_files(place: Place, request: ImportRequest) -> int:
    """Import the files one after another: between two that share documents the order decides."""
    outcomes: list[Outcome] = []
    # With --json nobody looks on.
    console = Console(stderr=True, highlight=False, force_terminal=False if request.json else None)
    with contextlib.ExitStack() as running:
        display = running.enter_context(ProgressDisplay(console))
        try:
            display.note("starting the database, S3, SQS, SNS and the functions ...")
            stack = running.enter_context(place.stack(workers=request.workers))
            states = running.enter_context(ImportStates(stack.database_url))
            for file in request.files:
                outcomes.append(_import_one(stack, states, request, file, display))
        except (LocalError, *_SERVICE_ERRORS) as exc:
            if isinstance(exc, StackBusyError) and not request.json:
                raise
            outcomes += [Outcome(file, None, _said(exc), 0.0) for file in request.files[len(outcomes) :]]
    if request.json:
        print(as_json(outcomes))
    else:
        print_table(outcomes, sys.stdout)
    return FAILED if any(outcome.failed for outcome in outcomes) else DONE


def _import_one(
    stack: LocalStack, states: ImportStates, request: ImportRequest, file: Path, display: ProgressDisplay
) -> Outcome:
    line = display.file(file.name)
    look = None
    began = time.monotonic()
    try:
        upload = uploads.put(stack, file, request.tenant, request.case, request.options)
        look = uploads.finder(states, upload)
        state = uploads.wait(stack, look, _watcher(stack, line, display))
    except (ImportStalledError, OSError) as exc:
        return Outcome(file, look() if look else None, str(exc), time.monotonic() - began)
    seconds = time.monotonic() - began
    if state.failed:
        return Outcome(file, state, _failure(state), seconds)
    found = reports.download(stack.s3, stack.bucket, state, stack.state_dir / "reports")
    return Outcome(file, state, None, seconds, found)


def _said(error: Exception) -> str:
    """The error as its reader can use it: of the database's, what server or driver said, without the library's."""
    if isinstance(error, DBAPIError) and error.orig is not None and len(error.orig.args) > 1:
        number, message = error.orig.args[:2]
        return f"the database answered error {number}: {message}; check DATABASE_URL and that the server runs"
    return str(error)


def _failure(state: ImportState) -> str:
    return f"{state.failure_code}: {state.failure_message}" if state.failure_code else f"the import was {state.status}"


def _watcher(stack: LocalStack, line: FileProgress, display: ProgressDisplay) -> uploads.OnState:
    def on_state(state: ImportState | None) -> None:
        line.show(state)
        display.failures(stack.failures())

    return on_state


def database_url(place: Place) -> int:
    """Print the database's URL, having started and migrated the private server if that is the one."""
    if place.database_url:
        print("DATABASE_URL is set; this is it, as it is:", file=sys.stderr)
        print(place.database_url)
        return DONE
    url, lasts = _private_url(place)
    at = make_url(url)
    client = f"mysql --protocol=tcp -h {at.host} -P {at.port} -u {at.username} {at.database}"
    print(f"With a MySQL client: {client}", file=sys.stderr)
    print(lasts, file=sys.stderr)
    print(url)
    return DONE


def _private_url(place: Place) -> tuple[str, str]:
    """The private server's URL, and how long it runs; started and migrated, unless another command uses it."""
    try:
        with place.stack(outlive=True) as stack:
            return stack.database_url, "The private server goes on running; stop it with: exhibit-ingest stop"
    except StackBusyError:
        # A server that ends between the two looks has no address any more.
        with contextlib.suppress(OSError):
            if place.server().is_running():
                url = place.server().url(SCHEMA)
                return url, "Another exhibit-ingest command uses the server, and ends it if it has started it."
        raise


def serve(place: Place, port: int, workers: int) -> NoReturn:
    """Serve the API until a signal ends it; raises LocalError where the port is taken, or when the stack breaks."""
    print("starting the database, Redis, S3, SQS, SNS, the functions and the API ...", file=sys.stderr)
    with place.stack(workers=workers, api_port=port) as stack:
        try:
            print(_told(stack, sam_local.write(stack)), flush=True)
            watch(stack)
        finally:
            sam_local.remove(stack.state_dir)
            stack.stop_work()
            tell_unfinished(stack.database_url)


def _told(stack: LocalStack, for_sam: Path) -> str:
    return f"""\
API:       {stack.api_url}
a token:   .venv/bin/exhibit-ingest token --tenant acme --user me
database:  {stack.database_url}
logs:      {stack.log_directory}
sam local: {for_sam / sam_local.TEMPLATE}, {for_sam / sam_local.ENV_VARS}; see README.md
S3, SQS and SNS are in memory: uploads and messages are gone when this ends, imported rows are not.
An import that has not finished by then never will: cancel it and upload the file again.
Ctrl-C ends it."""


def print_token(place: Place, tenant: str, user: str) -> int:
    """Print a token that the API of this state directory takes for an hour, whether it is running or not."""
    print(Tokens.of(place.state_dir, Template.load(place.template)).issue(tenant, user))
    return DONE


def stop(place: Place) -> int:
    """Stop the private server, if it runs."""
    with exclusive(place.state_dir):
        stopped = place.server().stop()
    print("The private database server is stopped." if stopped else "No private database server runs.")
    return DONE


def reset(place: Place) -> int:
    """Stop the private server and delete everything that the command keeps on this machine."""
    if place.state_dir.exists():
        with exclusive(place.state_dir):
            place.server().stop()
            for path in _kept(place.state_dir):
                _remove(path)
        with contextlib.suppress(OSError):
            place.state_dir.rmdir()
    print(f"Deleted the private database, logs, reports and the tokens' secret in {place.state_dir}.")
    if place.database_url:
        print("DATABASE_URL is set; the database it names was not touched.", file=sys.stderr)
    return DONE


def _kept(state_dir: Path) -> Iterator[Path]:
    for name in _OURS:
        if (state_dir / name).exists():
            yield state_dir / name


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
