"""The systemd unit of a user that keeps `serve` running, also after the machine was started again.

Guaranteed: the unit starts the command of this installation, whatever characters its path has, ends it as Ctrl-C does,
and starts it again after a failure. It has no password: with DATABASE_URL set there is no unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from local.errors import LocalError

UNIT = "exhibit-ingest.service"
# Longer than the database and the functions take to end.
_STOP_SECONDS = 90
_TEXT = """\
[Unit]
Description=exhibit-ingest serve: API and console on 127.0.0.1

[Service]
ExecStart={command}
WorkingDirectory={folder}
KillSignal=SIGINT
KillMode=mixed
TimeoutStopSec={seconds}
Restart=on-failure
RestartSec=5
UMask=0077

[Install]
WantedBy=default.target
"""


class ServiceUnit(NamedTuple):
    """The unit's file, its text, and the commands that start it now and with the machine."""

    path: Path
    text: str
    commands: tuple[str, ...]


def describe_unit(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> ServiceUnit:
    """Return the unit that runs a command, an absolute path and its arguments, in a folder; nothing is written.

    Raises LocalError if DATABASE_URL is set, or if there is no home directory.
    """
    if environment.get("DATABASE_URL"):
        raise LocalError(
            "DATABASE_URL is set, and its password does not belong into a unit. Unset it to serve the private database,"
            f" or write {UNIT} yourself with an EnvironmentFile= of mode 0600"
        )
    home = environment.get("XDG_CONFIG_HOME") or (environment.get("HOME") and f"{environment['HOME']}/.config")
    if not home:
        raise LocalError("HOME is not set, so the folder of your systemd units is not known; set it")
    text = _TEXT.format(
        command=" ".join(_quote(word) for word in command), folder=_escape(str(folder)), seconds=_STOP_SECONDS
    )
    commands = (
        f"systemctl --user daemon-reload && systemctl --user enable --now {UNIT}",
        "loginctl enable-linger",
    )
    return ServiceUnit(Path(home, "systemd", "user", UNIT), text, commands)


def install_unit(unit: ServiceUnit) -> None:
    """Write the unit in place of an earlier one; systemd reads it at the first of its commands."""
    unit.path.parent.mkdir(parents=True, exist_ok=True)
    unit.path.write_text(unit.text, encoding="utf-8")


def _quote(word: str) -> str:
    """Return a word of ExecStart (systemd.service, "Command lines")."""
    escaped = _escape(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped}"'


def _escape(text: str) -> str:
    """Return a text in which systemd finds no specifier (systemd.unit, "Specifiers")."""
    return text.replace("%", "%%")
