"""What an import of a volume does with its files: what precedes their paths, and what is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from core.codes import FileFailure
from core.errors import FileRefusedError

FLAGS = ("verify_hashes", "verify_images")
FILE_OPTIONS = ("missing_files", "strip_prefix", *FLAGS)
MAX_PREFIX_CHARACTERS = 1_024


class MissingFiles(StrEnum):
    """Whether a row whose file the volume lacks gets a warning or is rejected."""

    WARN = "warn"
    REJECT = "reject"


@dataclass(frozen=True)
class FileOptions:
    """The options of a volume's files, with their defaults.

    `strip_prefix` is a drive, share or URL that precedes the volume's own folders in its load files. `verify_hashes`:
    files are read for their hashes. `verify_images`: images are opened, and their pages counted.
    """

    missing_files: MissingFiles = MissingFiles.WARN
    strip_prefix: str | None = None
    verify_hashes: bool = False
    verify_images: bool = False

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> FileOptions:
        """Return the options whose members were stored as texts; missing ones have their default."""
        missing = MissingFiles(values.get("missing_files", MissingFiles.WARN))
        return cls(missing, values.get("strip_prefix"), **{name: bool(values.get(name)) for name in FLAGS})

    def as_options(self) -> dict[str, str | bool]:
        """Return the options that differ from their defaults."""
        given = {**asdict(self), "missing_files": self.missing_files.value}
        return {name: value for name, value in given.items() if value != getattr(FileOptions(), name)}


def parse_file_options(document: Mapping[str, Any]) -> FileOptions:
    """Return the options that the document names. Raises FileRefusedError (BAD_OPTIONS) for an invalid value."""
    missing, prefix = document.get("missing_files"), document.get("strip_prefix")
    if missing is not None and missing not in list(MissingFiles):
        values = " or ".join(MissingFiles)
        raise _refuse(f"Option 'missing_files' is {ascii(missing)[:100]}. It must be {values}.")
    if prefix is not None and not _is_prefix(prefix):
        raise _refuse(f"Option 'strip_prefix' must be a string of 1 to {MAX_PREFIX_CHARACTERS} Unicode characters.")
    return FileOptions(MissingFiles(missing or MissingFiles.WARN), prefix, **_parse_flags(document))


def _parse_flags(document: Mapping[str, Any]) -> dict[str, bool]:
    flags = {name: document.get(name, False) for name in FLAGS}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise _refuse(f"Option {name!r} must be true or false.")
    return flags


def _is_prefix(value: object) -> bool:
    # Lone surrogates have no encoding.
    is_text = isinstance(value, str) and value.encode(errors="replace").decode() == value
    return is_text and 0 < len(str(value)) <= MAX_PREFIX_CHARACTERS


def _refuse(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.BAD_OPTIONS, message)
