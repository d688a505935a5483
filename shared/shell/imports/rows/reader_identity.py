"""The identity of all that decides which values the rows of a chunk have: of two equal ones, equal bytes do.

Guaranteed: it differs between two releases that differ in any module of `READERS`, and between databases that differ
in a limit of a text column. It is computed, so that no change can forget it; a test compares `READERS` with what the
reader of rows imports.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from core.time_zones import get_database_version
from shell.db.column_limits import column_limits
from shell.tables.name_kinds import NAME_KINDS

# Packages, with all that is in them, and modules.
READERS = (
    *("core.cells", "core.dates", "core.families", "core.imports", "core.load_file", "core.texts"),
    *("core.exhibit_dates", "core.exhibit_fields", "core.file_options", "core.load_mode", "core.row_texts"),
    *("core.time_zones", "core.timestamps", "shell.imports.rows", "shell.db.column_limits"),
    *("shell.utils.data_sanitizer", "shell.utils.document_properties", "shell.utils.key_validation"),
)


@lru_cache(maxsize=1)
def identify_reader() -> bytes:
    """Return a SHA-256, once per process."""
    digest = hashlib.sha256()
    for path in list_sources():
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    tables = ("exhibits", *(kind.table for kind in NAME_KINDS))
    limits = [sorted(column_limits(table).items()) for table in tables]
    places = (sys.version_info[:2], unicodedata.unidata_version, get_database_version())
    digest.update(repr((limits, places)).encode())
    return digest.digest()


def list_sources() -> list[Path]:
    """Return the files of `READERS`, in an order that no file system decides."""
    return [path for name in READERS for path in _list_files(name)]


def _list_files(name: str) -> Iterator[Path]:
    file = Path(str(import_module(name).__file__))
    yield from sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
