"""Create the data directory of a private MariaDB or MySQL server.

Its user root has no password until the server is started: see `local.services.mysql_login`.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from local.errors import DatabaseServerError
from local.services.mysql_binaries import Binaries
from local.services.processes import tail


def create_data_directory(binaries: Binaries, data: Path, temporary: Path, log: Path) -> None:
    """Create the data directory under another name beside its own, and rename it when it is complete.

    Raises DatabaseServerError with the program's output and the end of the log where it fails.
    """
    fresh = data.with_name(f"{data.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with _without_spaces(data.parent) as directory, _base_without_spaces(binaries) as programs:
        command = [*_program(programs, log), f"--datadir={directory / fresh.name}"]
        environment = {**programs.environment(), "TMPDIR": str(temporary)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        output = (done.stdout + done.stderr + tail(log)).strip()[-2000:]
        raise DatabaseServerError(f"{' '.join(command)} failed:\n{output}")
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
