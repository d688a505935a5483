"""What a command works on: the state directory, the template and the database."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from exhibit_ingest.arguments import DEFAULT_WORKERS
from exhibit_ingest.errors import CommandError, WrongUsageError
from local.errors import LocalError, StackBusyError, UsageError
from local.services.disk_space import check_disk_space, temporary_folder
from local.stack import LocalStack, StackOptions
from local.stack.local_stack import SCHEMA
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.time_scale import TimeScale

if TYPE_CHECKING:
    from exhibit_ingest.session.machine import MachineWish, RunningMachine
    from local.services.mysql import PrivateServer
    from local.stack.served_stack import ServedStack

# Six minutes of waiting after a crash in AWS are 18 seconds here; functions keep their full time limits.
_SCALE = TimeScale(factor=0.05, shortest_timeout=float("inf"))
_NEW_DATABASE_BYTES = 200 * 1024 * 1024
_URL_FORM = "set it in the form mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4"
_MIGRATIONS = REPOSITORY / "shared" / "shell" / "migrations" / "versions"


@dataclass(frozen=True)
class Workspace:
    """The state directory, the template and the database of a command; `database_url` is None for the private one."""

    state_dir: Path = REPOSITORY / ".local"
    template: Path = DEFAULT_TEMPLATE
    database_url: str | None = None

    @property
    def folder(self) -> Path:
        """Return the folder of the reports and journals of commands."""
        return self.state_dir

    @contextmanager
    def run(self, wish: MachineWish) -> Iterator[RunningMachine]:
        """Run the stack for the block, or use that of a running `serve`.

        Raises CommandError for whatever goes wrong with the stack.
        """
        try:
            if not wish.may_be_new:
                self.require_database()
            stack = self.connect(wish.workers or DEFAULT_WORKERS, wish.ended)
            with contextlib.closing(stack), _start(stack, wish) as machine:
                yield machine
        except UsageError as exc:
            raise WrongUsageError(str(exc)) from exc
        except LocalError as exc:
            raise CommandError(str(exc)) from exc

    def require_database(self) -> None:
        """Raise LocalError if nothing was ever imported here."""
        if self.database_url:
            self._require_tables(self.database_url)
        elif not (self.state_dir / "database" / "data").exists():
            raise LocalError("there is no database yet; import a file first")

    def stack(
        self,
        *,
        workers: int = 2,
        keep_database: bool = False,
        api_port: int = 0,
        minimal: bool = False,
        tcp: bool = False,
    ) -> LocalStack:
        """Return a stack that is not running yet, with the given `StackOptions`. Raises DiskFullError."""
        self.check_disk_space()
        return LocalStack(
            self.state_dir,
            StackOptions(
                workers=workers,
                time_scale=_SCALE,
                database_url=self.database_url,
                template=self.template,
                keep_database=keep_database,
                database_tcp=tcp,
                api_port=api_port,
                minimal=minimal,
                migrations=_MIGRATIONS if self.template == DEFAULT_TEMPLATE else None,
            ),
        )

    def connect(self, workers: int, ended_advice: str | None = None) -> LocalStack | ServedStack:
        """Return a stack for imports, to be entered or closed: that of a running `serve`, or a launched one.

        `ended_advice` says that this `serve` ended meanwhile and what to do, by default for an import.

        Raises StackBusyError if another command uses the state directory, and LocalError if `serve` does with another
        database.
        """
        stack = self.stack(workers=workers, minimal=True)
        try:
            stack.launch()
        except StackBusyError:
            from local.stack.served_stack import ENDED_IMPORT, ServedStack

            place = (self.state_dir, self.template, self.database_url)
            served = ServedStack.find(*place, ended_advice or ENDED_IMPORT)
            if served is None:
                raise
            return served
        return stack

    @contextmanager
    def open_database(self) -> Iterator[str]:
        """Yield the URL of the database, for reading; the private server is started for the block if needed.

        Raises LocalError if there is no database yet, or if DATABASE_URL names one without this version's tables.
        """
        if self.database_url:
            yield self._require_tables(self.database_url)
            return
        if not (self.state_dir / "database" / "data").exists():
            raise LocalError("there is no database yet; import a file first")
        try:
            # Brings the tables up to date too: an earlier version may have created them.
            stack = self.stack(minimal=True)
            stack.launch()
        except StackBusyError:
            # A server that stops between the two calls has no address any more.
            with contextlib.suppress(OSError):
                if self.server().is_running():
                    yield self._require_tables(self.server().url(SCHEMA))
                    return
            raise
        with stack:
            yield stack.database_url

    def _require_tables(self, url: str) -> str:
        from local.stack.schema import has_tables

        if not has_tables(url, _MIGRATIONS):
            raise LocalError("the database does not have the tables of this version; import a file first")
        return url

    def check_disk_space(self) -> None:
        """Raise DiskFullError unless the state directory and the temporary folder have room for a stack."""
        is_new = not self.database_url and not (self.state_dir / "database" / "data").exists()
        check_disk_space(self.state_dir, _NEW_DATABASE_BYTES if is_new else 0)
        check_disk_space(temporary_folder())

    def server(self) -> PrivateServer:
        """Return the private database server."""
        from local.services.mysql import PrivateServer

        return PrivateServer(self.state_dir / "database")


@contextmanager
def _start(stack: LocalStack | ServedStack, wish: MachineWish) -> Iterator[RunningMachine]:
    """Run a launched stack for the block; what the command needs is imported while the servers start."""
    with contextlib.ExitStack() as running:
        # Collecting garbage while modules are imported finds none, and takes a tenth of the time.
        gc.disable()
        try:
            for module in ("local.command.machine", *wish.modules):
                import_module(module)
            running.enter_context(stack)
        finally:
            gc.enable()
        yield import_module("local.command.machine").describe_machine(stack, wish)


def find_workspace() -> Workspace:
    """Return the workspace of this machine. Raises UsageError where DATABASE_URL cannot be used."""
    return Workspace(database_url=_check_database_url(os.environ.get("DATABASE_URL")))


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
