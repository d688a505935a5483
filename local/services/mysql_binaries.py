"""Find the programs of a MariaDB or MySQL server on this machine, or get them from the machine's package sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from local.errors import DatabaseServerError
from local.services import mysql_packages

# Where packages are unpacked without root; kept by `reset`, as it has no data.
UNPACKED = Path(__file__).parents[2] / ".local" / "mariadb"
_SERVERS = ("mariadbd", "mysqld")
_INSTALLERS = ("mariadb-install-db", "mysql_install_db")


@dataclass(frozen=True)
class Binaries:
    """The server program, and the one that initializes a data directory (None for MySQL, whose server does it).

    `base` is the `usr` of packages that were unpacked into a folder, None for a server that the system has installed.
    """

    server: Path
    installer: Path | None
    base: Path | None = None

    @property
    def is_mysql(self) -> bool:
        """Whether this is MySQL rather than MariaDB."""
        return self.installer is None

    @property
    def command(self) -> list[str]:
        """The server's command with the options that every start needs."""
        return [str(self.server), "--no-defaults", *self.user, *self._places()]

    @property
    def user(self) -> list[str]:
        """The option without which the programs refuse to run as root."""
        return ["--user=root"] if os.geteuid() == 0 else []

    def _places(self) -> list[str]:
        if self.base is None:
            return []
        # share/mysql until MariaDB 10.11, share/mariadb in later packages.
        messages = [f"--lc-messages-dir={each.parents[1]}" for each in self.base.glob("share/*/english/errmsg.sys")]
        return [f"--basedir={self.base}", *messages[:1]]

    def environment(self) -> dict[str, str]:
        """Return this process's environment; for unpacked packages, with the folders of their libraries."""
        if self.base is None:
            return dict(os.environ)
        own = [str(each) for part in ("lib", "../lib") for each in sorted(self.base.glob(f"{part}/*-linux-gnu*"))]
        paths = [*own, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return dict(os.environ) | {"LD_LIBRARY_PATH": os.pathsep.join(paths)}


def find_binaries(path: str | None = None) -> Binaries | None:
    """Return the first usable server on PATH or in the sbin folders; None where there is no server."""
    places = os.pathsep.join([path if path is not None else os.environ.get("PATH", ""), *_sbin(path)])
    for name in _SERVERS:
        server = shutil.which(name, path=places)
        if not server:
            continue
        if not _is_mariadb(server):
            return Binaries(Path(server), None)
        installer = next(filter(None, (shutil.which(each, path=places) for each in _INSTALLERS)), None)
        if installer:
            return Binaries(Path(server), Path(installer))
    return None


def find_unpacked(folder: Path) -> Binaries | None:
    """Return the server whose packages were unpacked into the folder; None where it has none."""
    base = folder.resolve() / "usr"
    found = Binaries(base / "sbin" / "mariadbd", base / "bin" / "mariadb-install-db", base)
    return found if found.server.exists() else None


def find_or_install(unpacked: Path = UNPACKED, runner: mysql_packages.Runner = mysql_packages.run) -> Binaries:
    """Return a server's programs, which apt installs or unpacks where there are none.

    Says on standard error what it will do before it does it. Raises DatabaseServerError, which names the package to
    install and DATABASE_URL, where no server can be had.
    """
    found = find_binaries() or find_unpacked(unpacked)
    if found:
        return found
    if not mysql_packages.has_apt():
        raise DatabaseServerError(mysql_packages.describe_installation())
    is_root = os.geteuid() == 0
    how = "installed (programs only, no service)" if is_root else f"unpacked into {unpacked}, because this is not root"
    print(
        f"No MariaDB or MySQL server found: {' and '.join(mysql_packages.PACKAGES)} are {how}, some 10 MB to download."
        " To use a server of yours, set DATABASE_URL.",
        file=sys.stderr,
    )
    try:
        if is_root:
            mysql_packages.install_as_root(runner)
        else:
            mysql_packages.unpack_without_root(unpacked, runner)
    except DatabaseServerError as failed:
        raise DatabaseServerError(f"{failed}\n{mysql_packages.describe_installation()}") from failed
    found = find_binaries() or find_unpacked(unpacked)
    if not found:
        raise DatabaseServerError(mysql_packages.describe_installation())
    return found


def _sbin(path: str | None) -> tuple[str, ...]:
    return () if path is not None else ("/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin")


def _is_mariadb(server: str) -> bool:
    version = subprocess.run([server, "--no-defaults", "--version"], capture_output=True, text=True, check=False)
    return "mariadb" in version.stdout.lower()


def main() -> int:
    """Find or get a server before anything else is installed; return the exit code."""
    try:
        find_or_install()
    except DatabaseServerError as error:
        print(f"exhibit-ingest: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
