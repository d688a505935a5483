"""What each code means and what to do about it, as the command prints it.

Guaranteed: the texts are those of `docs/load-files.md`; `python -m tools.code_tables` writes both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

REJECTION, WARNING = "rejection", "warning"


def explain_codes(counts: Mapping[str, int], consequence: str, *, of_images: bool = False) -> Iterator[str]:
    """Yield a line for each code; that of a code of a newer version of the stack has its count alone."""
    for code, count in counts.items():
        yield f"  {code} {count:,}{_explain(code, consequence, of_images=of_images)}"


def list_deficient_codes() -> frozenset[str]:
    """Return the codes of what the producing party has to send or correct."""
    return frozenset(_read()["deficient"])


def _explain(code: str, consequence: str, *, of_images: bool) -> str:
    """Return what a code means there; one that rejects because of an option has the text of its warning."""
    tables = _read()["tables"]
    own = [each["codes"] for each in tables.values() if each["consequence"] == consequence]
    for table in (*(reversed(own) if of_images else own), tables["files"]["codes"], tables["image warnings"]["codes"]):
        if code in table:
            meaning, advice = table[code]
            return f": {meaning}. What to do: {advice}."
    return ""


@cache
def _read() -> dict[str, Any]:
    text = files("exhibit_ingest").joinpath("explained_codes.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document
