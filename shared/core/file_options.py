"""What an import of a volume does with its files: what precedes their paths, and what is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from core.codes import FileFailure
from core.errors import FileRefusedError

FLAGS = ("verify_hashes", "verify_images")
FILE_OPTIONS = ("missing_files", "strip_prefix", "add_prefix", "volume", *FLAGS)
MAX_PREFIX_CHARACTERS, MAX_PREFIXES = 1_024, 10


class MissingFiles(StrEnum):
    """Whether a row whose file the volume lacks gets a warning or is rejected."""

    WARN = "warn"
    REJECT = "reject"


@dataclass(frozen=True)
class VolumeUse:
    """The volume that an error file is imported against, and its load files, from whose folders paths can start."""

    id: int
    load_file: str | None = None
    image_load_file: str | None = None

    def as_option(self) -> dict[str, int | str]:
        """Return the value of the option `volume`."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class FileOptions:
    """The options of a volume's files, with their defaults.

    `strip_prefix` is a drive, share or URL that precedes the volume's own folders in its load files, or several of
    these. `add_prefix` is the folder of the volume that their paths start from. `volume` is the one of an error file;
    the load files of a volume do not name it. `verify_hashes`: files are read for their hashes.
    `verify_images`: images are opened, and their pages counted.
    """

    missing_files: MissingFiles = MissingFiles.WARN
    strip_prefix: str | tuple[str, ...] | None = None
    volume: VolumeUse | None = None
    verify_hashes: bool = False
    verify_images: bool = False
    add_prefix: str | None = None

    @property
    def strip_prefixes(self) -> tuple[str, ...]:
        """The beginnings that paths are stripped of."""
        return (self.strip_prefix,) if isinstance(self.strip_prefix, str) else self.strip_prefix or ()

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> FileOptions:
        """Return the options whose members were stored as texts; missing ones have their default."""
        missing = MissingFiles(values.get("missing_files", MissingFiles.WARN))
        volume = values.get("volume") and VolumeUse(**values["volume"])
        flags = {name: bool(values.get(name)) for name in FLAGS}
        return cls(
            missing, _as_prefix(values.get("strip_prefix")), volume, **flags, add_prefix=values.get("add_prefix")
        )

    def as_options(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        given = {**asdict(self), "missing_files": self.missing_files.value}
        given["volume"] = self.volume and self.volume.as_option()
        given["strip_prefix"] = list(self.strip_prefixes) if len(self.strip_prefixes) > 1 else self.strip_prefix
        return {name: value for name, value in given.items() if value != getattr(FileOptions(), name)}


def parse_file_options(document: Mapping[str, Any]) -> FileOptions:
    """Return the options that the document names. Raises FileRefusedError (BAD_OPTIONS) for an invalid value."""
    missing = document.get("missing_files")
    if missing is not None and missing not in list(MissingFiles):
        values = " or ".join(MissingFiles)
        raise _refuse(f"Option 'missing_files' is {ascii(missing)[:100]}. It must be {values}.")
    prefix, folder = _parse_strip_prefix(document.get("strip_prefix")), _parse_add_prefix(document.get("add_prefix"))
    volume = _parse_volume(document.get("volume"))
    chosen = MissingFiles(missing or MissingFiles.WARN)
    return FileOptions(chosen, prefix, volume, **_parse_flags(document), add_prefix=folder)


def _parse_strip_prefix(value: object) -> str | tuple[str, ...] | None:
    prefixes = value if isinstance(value, list | tuple) else [] if value is None else [value]
    if len(prefixes) > MAX_PREFIXES or not all(map(_is_text, prefixes)) or value in ([], ()):
        characters = f"1 to {MAX_PREFIX_CHARACTERS} Unicode characters"
        raise _refuse(f"Option 'strip_prefix' must be a string of {characters}, or a list of 1 to {MAX_PREFIXES} such.")
    return _as_prefix(prefixes)


def _as_prefix(value: object) -> str | tuple[str, ...] | None:
    """Return a prefix, or several as a tuple; one alone is a string, as earlier versions store and read it."""
    prefixes = tuple(dict.fromkeys(value)) if isinstance(value, list | tuple) else (value,)
    return prefixes if len(prefixes) > 1 else next((str(each) for each in prefixes if each is not None), None)


def _parse_add_prefix(value: object) -> str | None:
    if value is None:
        return None
    segments = value.replace("\\", "/").split("/") if isinstance(value, str) else []
    if not _is_text(value) or ".." in segments or ":" in segments[0] or not any(map(str.strip, segments)):
        raise _refuse(
            f"Option 'add_prefix' is {ascii(value)[:200]}. It must be a folder of the volume, such as VOL001, without "
            f"a drive and without '..', of at most {MAX_PREFIX_CHARACTERS:,} characters."
        )
    return str(value)


def _parse_volume(value: object) -> VolumeUse | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not {"id"} <= set(value) <= set(VolumeUse.__dataclass_fields__):
        raise _refuse("Option 'volume' must be an object of id, load_file and image_load_file, as in options.json.")
    number, paths = value["id"], [value.get("load_file"), value.get("image_load_file")]
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**63:
        raise _refuse("Option 'volume' must have the id of a volume, a number from 1.")
    if not all(path is None or _is_text(path) for path in paths):
        raise _refuse(f"The paths of option 'volume' must be strings of 1 to {MAX_PREFIX_CHARACTERS} characters.")
    return VolumeUse(number, *paths)


def _parse_flags(document: Mapping[str, Any]) -> dict[str, bool]:
    flags = {name: document.get(name, False) for name in FLAGS}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise _refuse(f"Option {name!r} must be true or false.")
    return flags


def _is_text(value: object) -> bool:
    # Lone surrogates have no encoding.
    is_text = isinstance(value, str) and value.encode(errors="replace").decode() == value
    return is_text and 0 < len(str(value)) <= MAX_PREFIX_CHARACTERS


def _refuse(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.BAD_OPTIONS, message)
