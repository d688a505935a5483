"""Format CSV files that spreadsheets open as they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from core.csv_cells import neutralize_formula


def format_csv(header: Sequence[str], lines: Iterator[Sequence[Any]]) -> Iterator[bytes]:
    """Yield the CSV file in UTF-8 with a byte order mark; without it spreadsheets assume the local code page."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    yield b"\xef\xbb\xbf"
    for line in lines:
        writer.writerow([neutralize_formula(cell) if isinstance(cell, str) else cell for cell in line])
        if buffer.tell() > 500_000:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()
