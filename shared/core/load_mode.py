"""What an import does with the documents that its case holds already: leave them, or overlay their values.

Guaranteed: without the options everything is as if the import could only append.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from core.codes import FileFailure
from core.errors import FileRefusedError


class Mode(StrEnum):
    """Whether an import creates exhibits, changes existing ones, or does both."""

    APPEND = "append"
    OVERLAY = "overlay"
    APPEND_OVERLAY = "append_overlay"


class OverlayKey(StrEnum):
    """The field that names the exhibit of a row."""

    CONTROL_NUMBER = "control_number"
    BATES_BEGIN = "bates_begin"


class Blanks(StrEnum):
    """Whether a blank cell leaves the stored value or empties it."""

    KEEP = "keep"
    CLEAR = "clear"


class MultiValues(StrEnum):
    """Whether the custodians and tags of a row are added to those of the exhibit, or replace them."""

    MERGE = "merge"
    REPLACE = "replace"


OVERLAY_OPTIONS = ("overlay_key", "blanks", "multi_values")
E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True)
class LoadMode:
    """The mode of an import and the options of an overlay, with their defaults."""

    mode: Mode = Mode.APPEND
    overlay_key: OverlayKey = OverlayKey.CONTROL_NUMBER
    blanks: Blanks = Blanks.KEEP
    multi_values: MultiValues = MultiValues.MERGE

    @property
    def is_overlay(self) -> bool:
        """Whether rows change existing exhibits."""
        return self.mode is not Mode.APPEND

    @property
    def creates(self) -> bool:
        """Whether rows without an exhibit create one."""
        return self.mode is not Mode.OVERLAY

    @classmethod
    def from_stored(cls, values: Mapping[str, str]) -> LoadMode:
        """Return the mode whose members were stored as texts; missing ones have their default."""
        own = cls()
        return cls(
            Mode(values.get("mode", own.mode)),
            OverlayKey(values.get("overlay_key", own.overlay_key)),
            Blanks(values.get("blanks", own.blanks)),
            MultiValues(values.get("multi_values", own.multi_values)),
        )

    def as_options(self) -> dict[str, str]:
        """Return the options that say this; none for an import that appends."""
        names = ("mode", *OVERLAY_OPTIONS) if self.is_overlay else ()
        return {name: str(getattr(self, name)) for name in names}


def parse_load_mode(document: Mapping[str, Any]) -> LoadMode:
    """Return the mode that the options name.

    Raises FileRefusedError (BAD_OPTIONS) for an unknown value and for options that contradict each other.
    """
    mode = _parse(document, "mode", Mode, Mode.APPEND)
    given = next((name for name in OVERLAY_OPTIONS if document.get(name) is not None), None)
    if mode is Mode.APPEND and given:
        advice = f"Set option 'mode' to overlay or append_overlay, or remove {given!r}."
        raise _refuse(f"Option {given!r} is only for an overlay. {advice}")
    key = _parse(document, "overlay_key", OverlayKey, OverlayKey.CONTROL_NUMBER)
    if key is OverlayKey.BATES_BEGIN and mode is not Mode.OVERLAY:
        message = 'Option \'overlay_key\' can be bates_begin only with "mode": "overlay"'
        raise _refuse(f"{message}: a new document needs a control number.")
    blanks = _parse(document, "blanks", Blanks, Blanks.KEEP)
    return LoadMode(mode, key, blanks, _parse(document, "multi_values", MultiValues, MultiValues.MERGE))


def check_overlay_key(load_mode: LoadMode, fields: Sequence[str | None], names: Sequence[str]) -> None:
    """Raise FileRefusedError (BAD_OPTIONS) for a column of control numbers in a file whose key is the Bates number."""
    if load_mode.overlay_key is OverlayKey.BATES_BEGIN and "control_number" in fields:
        name = names[fields.index("control_number")]
        message = f'With "overlay_key": "bates_begin" no column can be the control number, and {name!r} is'
        advice = "Map it to \"property\" with the option 'columns', or use control_number as the key"
        raise _refuse(f"{message}. {advice}: an overlay never changes a control number.")


def _parse(document: Mapping[str, Any], name: str, values: type[E], default: E) -> E:
    given = document.get(name)
    if given is None:
        return default
    if not isinstance(given, str) or given not in list(values):
        raise _refuse(f"Option {name!r} is {ascii(given)[:100]}. It must be one of {', '.join(values)}.")
    return values(given)


def _refuse(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.BAD_OPTIONS, message)
