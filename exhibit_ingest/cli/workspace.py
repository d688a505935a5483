"""What a command works on: the state directory, the template and the database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local.errors import LocalError, StackBusyError
from local.services.disk_space import check_disk_space, temporary_folder
from local.stack import LocalStack, StackOptions
from local.stack.local_stack import SCHEMA
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.time_scale import TimeScale

if TYPE_CHECKING:
    from local.services.mysql import PrivateServer
    from local.stack.served_stack import ServedStack

# Six minutes of waiting after a crash in AWS are 18 seconds here; functions keep their full time limits.
_SCALE = TimeScale(factor=0.05, shortest_timeout=float("inf"))
_NEW_DATABASE_BYTES = 200 * 1024 * 1024
_MIGRATIONS = REPOSITORY / "shared" / "shell" / "migrations" / "versions"


@dataclass(frozen=True)
class Workspace:
    """The state directory, the template and the database of a command; `database_url` is None for the private one."""

    state_dir: Path = REPOSITORY / ".local"
    template: Path = DEFAULT_TEMPLATE
    database_url: str | None = None

    def stack(
        self, *, workers: int = 2, keep_database: bool = False, api_port: int = 0, minimal: bool = False
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
