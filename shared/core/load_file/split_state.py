"""What a pass over a file has found so far, in a form that can be stored: see `Splitter.export_state`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from core.dates.written_dates import DATE_PREFIX_CHARACTERS, DateOrder, ShownOrder, combine_orders, find_shown_order
from core.load_file.encoding import Utf8Evidence

LISTED_LINES = 10
MAX_DATE_PREFIXES = 50_000
MAX_SHOWN_LINES = 3


@dataclass(frozen=True)
class Chunk:
    """Consecutive records: bytes [byte_start, byte_end), physical lines [first_line, last_line], number of records.

    `boundaries` are those of an image load file, which its hash covers, too: see `core.image_load_file`.
    """

    chunk_no: int
    byte_start: int
    byte_end: int
    first_line: int
    last_line: int
    row_count: int
    sha256: bytes
    boundaries: bytes | None = None


@dataclass
class OpenChunk:
    """The chunk that is being filled; `raw_parts` together are its bytes [byte_start, byte_end)."""

    byte_start: int
    first_line: int
    byte_end: int
    last_line: int
    row_count: int = 0
    raw_parts: list[bytes] = field(default_factory=list)

    @classmethod
    def start(cls, byte_start: int, first_line: int) -> OpenChunk:
        """Return an empty chunk that begins at this byte and this line."""
        return cls(byte_start, first_line, byte_start, first_line)

    def append(self, byte_end: int, last_line: int, raw: bytes | None, rows: int = 0) -> None:
        """Add bytes up to this byte and this line, with this number of rows; None: bytes that are not kept."""
        self.byte_end, self.last_line, self.row_count = byte_end, last_line, self.row_count + rows
        if raw is not None:
            self.raw_parts.append(raw)

    def hash_bytes(self) -> bytes:
        """Return the SHA-256 of the bytes that were kept."""
        return hashlib.sha256(b"".join(self.raw_parts)).digest()

    def build(self, number: int, digest: bytes) -> Chunk:
        """Return the complete chunk."""
        return Chunk(number, self.byte_start, self.byte_end, self.first_line, self.last_line, self.row_count, digest)


@dataclass
class LineCount:
    """The number of records with a property, and the lines of the first ones."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        """Count the record at a line."""
        self.count += 1
        if self.count <= LISTED_LINES:
            self.lines.append(line)

    def list_lines(self) -> str:
        """Return the lines for a message, as in "line 3, line 7 and 2 more"."""
        more = self.count - len(self.lines)
        return ", ".join(f"line {line}" for line in self.lines) + (f" and {more} more" if more else "")


class DatePrefixes:
    """The distinct beginnings of the dates of each field, up to MAX_DATE_PREFIXES: enough to detect their orders.

    `shown` are the first lines that show each order, by field: up to MAX_SHOWN_LINES of different beginnings.
    """

    def __init__(self, fields: Iterable[str]) -> None:
        self._known: dict[str, set[str]] = {date: set() for date in fields}
        self._orders: dict[str, set[ShownOrder]] = {date: set() for date in self._known}
        self.shown: dict[str, dict[str, list[int]]] = {date: {} for date in self._known}

    def add(self, columns: Iterable[Sequence[str]], lines: Sequence[int], offset: int = 0) -> None:
        """Keep the beginnings of the cells of each column, in the order of the fields; `offset` is added to lines."""
        for date, cells in zip(self._known, columns, strict=True):
            known = self._known[date]
            if len(known) < MAX_DATE_PREFIXES:
                prefixes = [cell.lstrip()[:DATE_PREFIX_CHARACTERS] for cell in cells]
                new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in known]
                new = new[: MAX_DATE_PREFIXES - len(known)]
                known.update(new)
                for order, prefix in self._find_orders(date, new):
                    self.shown[date][order].append(lines[prefixes.index(prefix)] + offset)

    def _find_orders(self, date: str, prefixes: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield beginnings with the order that they show, if not enough lines are known that show it."""
        for prefix in prefixes:
            shown = find_shown_order(prefix)
            self._orders[date].add(shown)
            if shown.only and len(self.shown[date].setdefault(shown.only, [])) < MAX_SHOWN_LINES:
                yield shown.only, prefix

    def detect_orders(self) -> dict[str, DateOrder | None]:
        """Return the order that the dates of each field show."""
        return {date: combine_orders(orders) for date, orders in self._orders.items()}

    def export(self) -> list[list[str]]:
        """Return the beginnings, a list for each field, for `resume`."""
        return [sorted(known) for known in self._known.values()]

    def resume(self, exported: Iterable[Iterable[str]], shown: Mapping[str, dict[str, list[int]]]) -> None:
        """Go on where `export` was called for the same fields."""
        self._known = {date: set(known) for date, known in zip(self._known, exported, strict=False)}
        self._orders = {date: set(map(find_shown_order, known)) for date, known in self._known.items()}
        self.shown = {date: dict(shown.get(date, {})) for date in self._known}


_ORDERS = {"DMY": "day first", "MDY": "month first", "YMD": "year first without signs"}


def describe_order_lines(shown: Mapping[str, Sequence[int]]) -> str:
    """Return where dates show each order, for a message, as in ": day first in line 3, 9; month first in line 4"."""
    found = [f"{_ORDERS[order]} in line {', '.join(map(str, shown[order]))}" for order in _ORDERS if shown.get(order)]
    return f": {'; '.join(found)}" if found else ""


@dataclass(frozen=True)
class StreamPosition:
    """Where a record stream is: at byte `byte` and physical line `line` begins what belongs to no record yet."""

    byte: int
    line: int
    min_bytes_to_read: int


@dataclass(frozen=True)
class SplitState:
    """The state of a pass after the bytes [0, bytes_read); the bytes of the open chunk are not in it.

    `date_prefixes` has a list for each date column, `date_lines` the lines that show an order. `sha256` is the state of
    the file's digest in hexadecimal, None where it cannot be exported.
    `nul_count` is set after the end of the file. `date_prefixes` has a list for each date column. `sha256` is the state
    of the file's digest in hexadecimal, None where it cannot be exported.
    """

    bytes_read: int
    position: StreamPosition
    open_chunk: OpenChunk
    chunk_count: int
    rows_seen: int
    date_prefixes: list[list[str]]
    evidence: Utf8Evidence
    repeated_headers: LineCount
    byte_order_marks: LineCount
    blank_rows: LineCount
    nul_count: int
    sha256: str | None
    date_lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as values for JSON."""
        values = asdict(self)
        del values["open_chunk"]["raw_parts"]
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> SplitState:
        """Return the state that `to_dict` returned, in this version or one that read a single date column."""
        kinds = {
            "position": StreamPosition,
            "open_chunk": OpenChunk,
            "evidence": Utf8Evidence,
            "repeated_headers": LineCount,
            "byte_order_marks": LineCount,
            "blank_rows": LineCount,
        }
        if any(isinstance(each, str) for each in values["date_prefixes"]) or not values["date_prefixes"]:
            values = values | {"date_prefixes": [values["date_prefixes"]]}
        # Versions before this one wrote the bytes, always none, as `tiles`.
        values = values | {"open_chunk": {name: each for name, each in values["open_chunk"].items() if name != "tiles"}}
        return cls(**{name: kinds[name](**value) if name in kinds else value for name, value in values.items()})
