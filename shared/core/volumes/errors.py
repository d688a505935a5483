"""The error of a volume that cannot be imported at all."""

from __future__ import annotations

from core.codes import VolumeFailure
from core.errors import FileRefusedError

MAX_NAME_IN_MESSAGE = 200


class VolumeRefusedError(FileRefusedError):
    """The volume cannot be imported; correct it and upload it again.

    `code` is a VolumeFailure. `entry` is the name of the entry of a zip that it is about, None for the whole volume.
    """

    def __init__(self, code: VolumeFailure, message: str, entry: str | None = None) -> None:
        super().__init__(code, message if entry is None else f"Entry {shorten_name(entry)}: {message}")
        self.entry = entry


def shorten_name(name: str) -> str:
    """Return a name for a message: quoted, control characters escaped, the end of a long one left out.

    A backslash stays one, as in the name.
    """
    text = repr(name if len(name) <= MAX_NAME_IN_MESSAGE else name[:MAX_NAME_IN_MESSAGE] + "...")
    return text.replace("\\\\", "\\")
