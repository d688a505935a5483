"""Split the cells of columns that hold several values: custodians and tags.

Guaranteed: without options, values are separated as earlier versions did, so that importing a file again finds the
same names. A quoted value is one only if it begins with a quotation mark and its closing one is followed by a separator
or the end; every other quotation mark is a part of its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.load_file.grammar import ASCII_WHITESPACE

MULTI_VALUE_SEPARATOR = ";"
# Between the levels of the name of a nested tag: "Hot\\Really Hot".
PATH_SIGN = "\\"
LIST_OPTIONS = ("multi_value_separator", "nested_separator")


@dataclass(frozen=True)
class ListSigns:
    """What separates the values of a cell, and the levels of a tag (None: PATH_SIGN, and the tag is as written).

    `has_quotes`: a value in quotation marks can contain the separator. It is so if the uploader states the separator.
    """

    separator: str = MULTI_VALUE_SEPARATOR
    nested: str | None = None
    has_quotes: bool = False

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> ListSigns:
        """Return what was stored, in this version or another one."""
        own = cls()
        return cls(
            values.get("separator", own.separator),
            values.get("nested", own.nested),
            values.get("has_quotes", own.has_quotes),
        )

    def as_options(self) -> dict[str, str]:
        """Return the options that say this; none without options."""
        given = (self.separator if self.has_quotes else None, self.nested)
        return {name: sign for name, sign in zip(LIST_OPTIONS, given, strict=True) if sign}

    def replace_newlines(self, text: str, newline: str | None) -> str:
        """Return a cell with the separator in place of the character that represents line breaks."""
        return text.replace(newline, self.separator) if newline else text

    def count(self, text: str) -> int:
        """Return a number of values that the cell does not exceed, without splitting it."""
        return text.count(self.separator) + 1

    def split(self, text: str, *, has_levels: bool) -> Iterator[str]:
        """Yield the values of a cell, trimmed, some of them blank; a tag of several levels is its path."""
        for value in self._split_quoted(text) if self.has_quotes and '"' in text else text.split(self.separator):
            trimmed = value.strip(ASCII_WHITESPACE)
            yield self._write_path(trimmed) if has_levels and self.nested and self.nested in trimmed else trimmed

    def _split_quoted(self, text: str) -> Iterator[str]:
        start = 0
        for found in _compile(self.separator).finditer(text):
            quoted = found["quoted"]
            yield found["plain"] if quoted is None else quoted.replace('""', '"')
            start = found.end()
            if start == len(text) and not found["end"]:
                return

    def _write_path(self, value: str) -> str:
        levels = (level.strip(ASCII_WHITESPACE) for level in value.split(self.nested))
        return PATH_SIGN.join(filter(None, levels))


@lru_cache(maxsize=100)
def _compile(separator: str) -> re.Pattern[str]:
    sign = re.escape(separator)
    quoted = rf'"(?P<quoted>(?:[^"]|"")*+)"[ \t]*+(?={sign}|\Z)'
    return re.compile(rf"[ \t]*+(?:{quoted}|(?P<plain>[^{sign}]*+))(?P<end>{sign}|\Z)")
