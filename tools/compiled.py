"""What `sam build` compiled, looked at from the outside: would Lambda's Python take it, and is it that of the source?

Guarantees, of the files in __pycache__ that it passes: they are where the given Python looks for them, of its version,
made of the source beside them, and to be loaded without a look at that source. That they do what the source says is the
compiler's word. Nobody else asks: a stale file of this kind would be run in place of its source.
"""

from __future__ import annotations

import _imp
import sys
from collections.abc import Iterator, Sequence
from importlib.util import MAGIC_NUMBER
from pathlib import Path

FOLDER = "__pycache__"
# What the files of a version begin with, from its release candidate on: this Python's, and Lambda's.
MAGIC = {(3, 13): (3571).to_bytes(2, "little") + b"\r\n", sys.version_info[:2]: MAGIC_NUMBER}
# By the hash of the source, which is not to be looked at.
_UNCHECKED = (1).to_bytes(4, "little")


def compiled_of(source: Path, python: tuple[int, int]) -> Path:
    """Where a Python looks for the compiled form of a source."""
    return source.parent / FOLDER / f"{source.stem}.cpython-{python[0]}{python[1]}.pyc"


def fault_of(file: Path, python: tuple[int, int]) -> str | None:
    """What is wrong with a file that lies in __pycache__; nothing where a Python of the version can load it."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if file != compiled_of(source, python) or not source.is_file():
        return "no compiled form of a source beside it"
    head = file.read_bytes()[:16]
    if head[:4] != MAGIC.get(python):
        return "not compiled by python{}.{}".format(*python)
    if head[4:8] != _UNCHECKED:
        return "loaded only if the time or the hash of its source is right"
    if head[8:] != _imp.source_hash(int.from_bytes(head[:4], "little"), source.read_bytes()):
        return "not compiled from the source beside it"
    return None


def uncompiled(sources: Sequence[Path], python: tuple[int, int]) -> Iterator[Path]:
    """The sources that have no compiled form."""
    return (source for source in sources if not compiled_of(source, python).is_file())
