"""Paths of Windows that are typed in the Windows Subsystem for Linux, and what they are there.

Guaranteed: a path that is not one of Windows, or that exists here as it was typed, gets no proposal; nothing is opened
but the configuration of the subsystem.
"""

from __future__ import annotations

import configparser
import re
from pathlib import Path

_DRIVE = re.compile(r"([A-Za-z]):[\\/](.*)", re.DOTALL)
_SHARE = re.compile(r"[\\/]{2}wsl(?:\$|\.localhost)[\\/][^\\/]+[\\/]?(.*)", re.DOTALL | re.IGNORECASE)
_MOUNT = "/mnt/"


def is_subsystem(version: Path = Path("/proc/version")) -> bool:
    """Return whether this is the Windows Subsystem for Linux."""
    try:
        return "microsoft" in version.read_text(encoding="utf-8").lower()
    except OSError:
        return False


def read_mount(configuration: Path = Path("/etc/wsl.conf")) -> str:
    """Return the folder in which the drives are, with a slash at its end: /mnt/ unless the file says another."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(configuration.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, configparser.Error):
        return _MOUNT
    return parser.get("automount", "root", fallback=_MOUNT).strip().strip('"').rstrip("/") + "/"


def convert_path(text: str, mount: str = _MOUNT) -> str | None:
    r"""Return the path here of one of Windows, as D:\Loads\... or \\wsl$\Ubuntu\data\...; None for any other."""
    if drive := _DRIVE.fullmatch(text):
        return mount + drive[1].lower() + "/" + drive[2].replace("\\", "/")
    if share := _SHARE.fullmatch(text):
        return "/" + share[1].replace("\\", "/")
    return None


def propose_path(text: str, *, mount: str = _MOUNT) -> str | None:
    """Return the sentence that proposes the path here of one of Windows; None if the text needs no proposal."""
    converted = convert_path(text, mount)
    if converted is None or Path(text).exists():
        return None
    if Path(converted).exists():
        return f"{text} is a path of Windows. Here it is {converted}: give that."
    return (
        f"{text} is a path of Windows. Here it would be {converted}, which does not exist: check the name, and put"
        " single quotes around a path with backslashes."
    )
