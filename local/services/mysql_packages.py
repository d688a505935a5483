"""Get the programs of a MariaDB server from the machine's own package sources, on Debian and Ubuntu.

Guaranteed: only programs, no service and no system database. Without root, nothing outside of one folder changes.
Needs only the standard library: `make` runs it before it installs Python packages.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from local.errors import DatabaseServerError

PACKAGES = ("mariadb-server-core", "mariadb-client-core")
_OWN_SERVER = "export DATABASE_URL='mysql+pymysql://user:password@host:3306/name?charset=utf8mb4'"

Runner = Callable[[Sequence[str]], None]


def has_apt() -> bool:
    """Return whether this is Debian or Ubuntu, or derived from them."""
    return Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


def run(command: Sequence[str]) -> None:
    """Run a command; raise DatabaseServerError with its errors where it fails."""
    environment = dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DatabaseServerError(f"{shlex.join(command)} failed:\n{done.stderr.strip()[-2000:]}")


def install_as_root(runner: Runner = run) -> None:
    """Install the packages; raises DatabaseServerError where apt fails."""
    _install(["apt-get", "-qq", "-y"], [], runner)


def unpack_without_root(folder: Path, runner: Runner = run) -> None:
    """Download the packages and the libraries that this machine lacks, and unpack them into a new folder.

    apt uses the machine's sources, keys and list of installed packages, with lists and archives of its own. The folder
    is complete or does not exist. Raises DatabaseServerError where apt or dpkg-deb fails.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as name:
        place = Path(name)
        for needed in ("lists/partial", "archives/partial", "tree"):
            (place / needed).mkdir(parents=True)
        apt = ["apt-get", "-qq", "-y"]
        # The locks are those of dpkg's database, which is only read.
        for option in ("Debug::NoLocking=1", f"Dir::State={place}", f"Dir::Cache={place}"):
            apt += ["-o", option]
        _install(apt, ["--download-only"], runner)
        for archive in sorted((place / "archives").glob("*.deb")):
            runner(["dpkg-deb", "--extract", str(archive), str(place / "tree")])
        with contextlib.suppress(OSError):  # Another process has unpacked them meanwhile.
            (place / "tree").rename(folder)


def _install(apt: Sequence[str], options: Sequence[str], runner: Runner) -> None:
    """Update the lists and install. The error of an update is reported only if the installation fails too."""
    old_lists = ""
    try:
        runner([*apt, "-o", "APT::Update::Error-Mode=any", "update"])
    except DatabaseServerError as error:
        old_lists = f"{error}\n"
    try:
        runner([*apt, "install", "--no-install-recommends", *options, *PACKAGES])
    except DatabaseServerError as error:
        raise DatabaseServerError(f"{old_lists}{error}") from error


def describe_installation() -> str:
    """Return what to do where no server was found: the package to install, or DATABASE_URL."""
    if sys.platform == "darwin":
        line = "brew install mariadb"
    elif has_apt():
        line = f"sudo apt-get install -y --no-install-recommends {' '.join(PACKAGES)}"
    else:
        line = "sudo dnf install -y mariadb-server" if shutil.which("dnf") else ""
    install = f"Install one:\n  {line}\nor use" if line else "Install the package of MariaDB's server, or use"
    return f"No MariaDB or MySQL server was found on this machine. {install} a server of yours:\n  {_OWN_SERVER}"
