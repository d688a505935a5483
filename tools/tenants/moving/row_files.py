"""Files of rows: compressed, a row a line, each value as the server has it.

Guaranteed: what is read is what was written, for every byte. A line is a JSON list in which a character stands for a
byte: what was text is legible, what was binary is exact. A file whose SHA-256 is not that of the manifest is refused.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.tenants.database import TenantToolError
from tools.tenants.moving.connection import Row

_ROWS, _BYTES = 50_000, 64_000_000
_BLOCK = 1_000_000


def write_line(row: Row) -> bytes:
    """Return the line of a row."""
    texts = [None if value is None else value.decode("latin-1") for value in row]
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode("latin-1") + b"\n"


def read_line(line: bytes) -> Row:
    """Return the row of a line."""
    return tuple(None if text is None else text.encode("latin-1") for text in json.loads(line.decode("latin-1")))


class RowWriter:
    """Files of the rows of one table; `finish` ends the last one. `files` has what the manifest states of each."""

    def __init__(self, folder: Path, table: str) -> None:
        self._folder, self._table = folder, table
        self._file: gzip.GzipFile | None = None
        self._rows = self._bytes = 0
        self.files: list[dict[str, Any]] = []

    def write(self, line: bytes) -> None:
        """Append a line."""
        if self._file is None:
            name = f"{self._table}-{len(self.files) + 1:06}.jsonl.gz"
            # No name and no time in the file: the same rows are the same bytes.
            raw = (self._folder / name).open("wb")
            self._file = gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0)
            self.files.append({"name": name, "rows": 0, "sha256": ""})
        self._file.write(line)
        self._rows, self._bytes = self._rows + 1, self._bytes + len(line)
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self.finish()

    def finish(self) -> None:
        """End the file that is being written, if there is one."""
        if self._file is None:
            return
        raw: Any = self._file.fileobj
        self._file.close()
        raw.close()
        stated = self.files[-1]
        stated |= {"rows": self._rows, "sha256": hash_file(self._folder / stated["name"])}
        self._file, self._rows, self._bytes = None, 0, 0


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_rows(folder: Path, stated: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a file of the manifest. Raises TenantToolError before the first one if it was changed."""
    path = folder / stated["name"]
    if not path.is_file() or hash_file(path) != stated["sha256"]:
        raise TenantToolError(f"{path} is missing or is not what was written; export the tenant again")
    with gzip.open(path, "rb") as lines:
        yield from map(read_line, lines)
