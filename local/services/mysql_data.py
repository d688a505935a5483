"""Create the data directory of a private MariaDB or MySQL server.

Its user root has no password until the server is started: see `local.services.mysql_login`.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from local.errors import DatabaseServerError
from local.services.mysql_binaries import Binaries
from local.services.processes import Processes, tail


class AbandonableCommand:
    """A command that another thread can end; it ends with this process too."""

    def __init__(self) -> None:
        self.is_abandoned = False
        self._processes: Processes | None = None

    def run(self, command: list[str], environment: dict[str, str], log: Path) -> int:
        """Run a command, append its output to the log, and return its exit code, negative where it was killed."""
        self._processes = processes = Processes()
        try:
            child = processes.start(command, environment=environment, log=log)
            if self.is_abandoned:
                processes.kill()
            return child.wait()
        finally:
            self._processes = None
            processes.stop()

    def abandon(self) -> None:
        """Kill the command, which may run in another thread or begin later."""
        self.is_abandoned = True
        if processes := self._processes:
            processes.kill()


def create_data_directory(
    binaries: Binaries, data: Path, temporary: Path, log: Path, command: AbandonableCommand
) -> None:
    """Create the data directory under another name beside its own, and rename it when it is complete.

    Raises DatabaseServerError with the end of the log, which has the program's output, where it fails.
    """
    fresh = data.with_name(f"{data.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with _without_spaces(data.parent) as directory, _base_without_spaces(binaries) as programs:
        words = [*_program(programs, log), f"--datadir={directory / fresh.name}"]
        environment = {**programs.environment(), "TMPDIR": str(temporary)}
        code = command.run(words, environment, log)
    if code:
        raise DatabaseServerError(f"{' '.join(words)} failed:\n{tail(log).strip()[-2000:]}")
    fresh.rename(data)


def _program(binaries: Binaries, log: Path) -> list[str]:
    if binaries.installer is None:
        return [*binaries.command, "--initialize-insecure", f"--log-error={log}"]
    base = [f"--basedir={binaries.base}"] if binaries.base else []
    options = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", *base]
    return [str(binaries.installer), "--no-defaults", *options, *binaries.user]


@contextlib.contextmanager
def _base_without_spaces(binaries: Binaries) -> Iterator[Binaries]:
    if binaries.base is None or binaries.installer is None:
        yield binaries
        return
    with _without_spaces(binaries.base) as base:
        yield replace(binaries, base=base, installer=base / binaries.installer.relative_to(binaries.base))


@contextlib.contextmanager
def _without_spaces(directory: Path) -> Iterator[Path]:
    """Yield a path to the folder without spaces: MariaDB's installer fails on a path with a space.

    It does so as root for the data directory, and always for the folder of its programs.
    """
    with tempfile.TemporaryDirectory(prefix="exhibit-ingest-") as place:
        link = Path(place, "directory")
        link.symlink_to(directory)
        yield link
