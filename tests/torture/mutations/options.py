"""Damaged import options: other values, other types, unknown names. Always JSON."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

_CHARACTERS = (
    *("comma", "tab", "pipe", "dc4", "20", "254", "none", "None", "", "||", " ", "\n", "\r", "\0", "a", "þ", "®"),
    *('"', "^", ";", "\u2028", "😀", "\udc80", "x" * 300, "256", "-1", "²", "\\t", "\x1e", "0", "10"),
)
_ENCODINGS = (
    *("utf-8", "UTF8", "utf-16-le", "utf-16-be", "utf-16", "cp1252", "latin1", "ascii", "utf-7", "ebcdic", ""),
    "\udc80",
)
_FIELDS = ("control_number", "bates_begin", "title", "custodians", "tags", "property", "document_date", "heading", "")
_COLUMNS = (
    *("1", "2", "3", "99", "0", "-1", "²", "Title", "Control Number", "CUSTODIAN", "Body", "__class__", ""),
    "\udc80",
)
_ANYTHING: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1.5, 10**30, [], {}, [[]], {"a": {}}, "", "x", "\udc80", "x" * 300, "😀" * 200),
)
_NAMES = (
    *("header", "user_id", "encoding", "delimiter", "qualifier", "newline", "columns", "date_order", "__class__"),
    *("cells", "line_ends", ""),
)


def damaged_options(rng: random.Random, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of which one or two are given, changed, of another type, or left out."""
    changed = dict(options)
    for name in rng.sample(_NAMES, rng.choice((1, 1, 2))):
        if name in changed and rng.random() < 0.4:
            del changed[name]
        else:
            changed[name] = rng.choice(_ANYTHING) if rng.random() < 0.25 else _likely(rng, name)
    return changed


def _likely(rng: random.Random, name: str) -> Any:
    match name:
        case "encoding":
            return rng.choice(_ENCODINGS)
        case "delimiter" | "qualifier" | "newline":
            return rng.choice(_CHARACTERS)
        case "header":
            return rng.random() < 0.5
        case "cells":
            return rng.choice((0, 1, 2, 3, 9, 10_000, 10_001))
        case "line_ends":
            return rng.choice(("cr", "lf", "crlf", "CR"))
        case "date_order":
            return rng.choice(("DMY", "MDY", "YMD", "dmy"))
        case "columns":
            return {column: rng.choice(_FIELDS) for column in rng.sample(_COLUMNS, rng.randint(0, 3))}
    return rng.choice(_ANYTHING)
