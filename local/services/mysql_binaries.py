"""Find the programs of a MariaDB or MySQL server on this machine, or install them.

Installs only as root on Debian or Ubuntu, and only the programs: no service, no system database.
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
    """The server program, and the one that initializes a data directory (None for MySQL, whose server does it)."""

    server: Path
    installer: Path | None

    @property
    def is_mysql(self) -> bool:
        """Whether this is MySQL rather than MariaDB."""
        return self.installer is None


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


def find_or_install() -> Binaries:
    """Return a server's programs, installed if possible; raises DatabaseServerError that says how to install one."""
    found = find_binaries()
    if found:
        return found
    if not _may_install():
        raise DatabaseServerError(_describe_installation())
    _install()
    found = find_binaries()
    if not found:
        raise DatabaseServerError(_describe_installation())
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
        f"No MariaDB or MySQL server found. Installing {_PACKAGES[0]} (programs only, no service) ...", file=sys.stderr
    )
    environment = dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *_PACKAGES]
    failed = ""
    for command in (["apt-get", "update", "-qq"], install):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        failed = done.stderr if done.returncode else ""
    if failed:
        raise DatabaseServerError(f"{' '.join(install)} failed:\n{failed.strip()[-2000:]}\n{_describe_installation()}")


def _describe_installation() -> str:
    if sys.platform == "darwin":
        line = "brew install mariadb"
    elif shutil.which("apt-get"):
        line = f"sudo apt-get install -y --no-install-recommends {' '.join(_PACKAGES)}"
    elif shutil.which("dnf"):
        line = "sudo dnf install -y mariadb-server"
    else:
        line = "export DATABASE_URL='mysql+pymysql://user:password@host:3306/name?charset=utf8mb4'"
    return f"No MariaDB or MySQL server was found on this machine. Run:\n  {line}"
