"""Finds a MariaDB or MySQL server on this machine, and installs one where it may.

Installing is only done by root on Debian or Ubuntu, and only the server's programs: no service, no system database.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from local.errors import DatabaseServerError

_SERVERS = ("mariadbd", "mysqld")
_INSTALLERS = ("mariadb-install-db", "mysql_install_db")
_PACKAGES = ("mariadb-server-core", "mariadb-client-core")


@dataclass(frozen=True)
class Binaries:
    """The server, and the program that sets up its data directory (MySQL's server does that itself)."""

    server: Path
    installer: Path | None

    @property
    def is_mysql(self) -> bool:
        """Whether this is MySQL rather than MariaDB."""
        return self.installer is None


def find(path: str | None = None) -> Binaries | None:
    """The first usable server on PATH or in the sbin folders; None where there is none."""
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


def find_or_install() -> Binaries:
    """A server's programs; raises DatabaseServerError with the line to type where there are none."""
    found = find()
    if found:
        return found
    if not _may_install():
        raise DatabaseServerError(_advice())
    _install()
    found = find()
    if not found:
        raise DatabaseServerError(_advice())
    return found


def _sbin(path: str | None) -> tuple[str, ...]:
    return () if path is not None else ("/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin")


def _is_mariadb(server: str) -> bool:
    version = subprocess.run([server, "--no-defaults", "--version"], capture_output=True, text=True, check=False)
    return "mariadb" in version.stdout.lower()


def _may_install() -> bool:
    return os.geteuid() == 0 and Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


def _install() -> None:
    print(
        f"No MariaDB or MySQL server found; installing {_PACKAGES[0]} (its programs, no service) ...", file=sys.stderr
    )
    environment = dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *_PACKAGES]
    failed = ""
    for command in (["apt-get", "update", "-qq"], install):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        failed = done.stderr if done.returncode else ""
    if failed:
        raise DatabaseServerError(f"{' '.join(install)} failed:\n{failed.strip()[-2000:]}\n{_advice()}")


def _advice() -> str:
    if sys.platform == "darwin":
        line = "brew install mariadb"
    elif shutil.which("apt-get"):
        line = f"sudo apt-get install -y --no-install-recommends {' '.join(_PACKAGES)}"
    elif shutil.which("dnf"):
        line = "sudo dnf install -y mariadb-server"
    else:
        line = "export DATABASE_URL='mysql+pymysql://user:password@host:3306/name?charset=utf8mb4'"
    return f"No MariaDB or MySQL server was found on this machine. Type:\n  {line}"
