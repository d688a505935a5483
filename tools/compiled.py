"""Checks of the compiled files in the output of `sam build`: would Lambda's Python load them, and do they match?

Guarantees that a file in __pycache__ that passes is where the given Python looks for it, is of that version, was
compiled from the source beside it, and is loaded without checking that source. The check is needed because such a file
runs in place of its source even where it is stale. Does not verify the bytecode itself.
"""

from __future__ import annotations

import _imp
import sys
from collections.abc import Iterator, Sequence
from importlib.util import MAGIC_NUMBER
from pathlib import Path

FOLDER = "__pycache__"
# The first bytes of compiled files, by Python version: Lambda's and this one.
MAGIC = {(3, 13): (3571).to_bytes(2, "little") + b"\r\n", sys.version_info[:2]: MAGIC_NUMBER}
# The flag of hash-based files that Python loads without checking the source (PEP 552).
_UNCHECKED = (1).to_bytes(4, "little")


def compiled_path(source: Path, python: tuple[int, int]) -> Path:
    """Return where a Python looks for the compiled form of a source."""
    return source.parent / FOLDER / f"{source.stem}.cpython-{python[0]}{python[1]}.pyc"


def find_fault(file: Path, python: tuple[int, int]) -> str | None:
    """Return what is wrong with a file in __pycache__; None where a Python of that version loads it."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if file != compiled_path(source, python) or not source.is_file():
        return "no compiled form of a source beside it"
    head = file.read_bytes()[:16]
    if head[:4] != MAGIC.get(python):
        return "not compiled by python{}.{}".format(*python)
    if head[4:8] != _UNCHECKED:
        return "loaded only if the time or the hash of its source matches"
    if head[8:] != _imp.source_hash(int.from_bytes(head[:4], "little"), source.read_bytes()):
        return "not compiled from the source beside it"
    return None


def list_uncompiled(sources: Sequence[Path], python: tuple[int, int]) -> Iterator[Path]:
    """Return the sources that are not compiled."""
    return (source for source in sources if not compiled_path(source, python).is_file())
