"""Find the columns of a file that hold Bates ranges besides those of the fields `bates_begin` and `bates_end`.

A file that was produced twice has two pairs: PRODBEG and PRODEND beside BEGBATES and ENDBATES, "Second::Begin Bates",
or one header twice. The second pair is kept as properties, and is a claim of the document to its numbers, too.
Guaranteed: a column that the options or a profile map to a property is not one of these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.cells.keys import unwrap_formula
from core.load_file.field_mapping import MappingReason, find_field
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.header_names import normalise_name
from core.load_file.layout import Layout

# Of a name that is repeated: "BEGBATES (2)".
_REPEATED = re.compile(r" \([0-9]+\)$")
_EDGE = re.compile(r"beg(?:in(?:ning)?)?|start(?:ing)?|first|end(?:ing)?|stop|last")
_PARTIES = frozenset(
    (
        *("producingparty", "prodparty", "productionparty", "producedby", "productionvolume", "prodvolume", "prodvol"),
        *("volume", "volumename", "productionname", "production"),
    )
)
MAX_LABEL = 255


class StatedRange(NamedTuple):
    """A range as a row states it: `seq` is 0 for that of the fields, `label` the volume or producing party."""

    seq: int
    begin: str
    end: str | None
    label: str | None


class _Pair(NamedTuple):
    seq: int
    begin: int
    end: int | None
    label: str | None


@dataclass(frozen=True)
class ProductionColumns:
    """The columns of ranges of one file; `own` is that of the fields, None if the file has no column for its begin.

    With `unwraps`, numbers are taken out of formulas of spreadsheets, as they are for the fields.
    """

    own: _Pair | None
    others: tuple[_Pair, ...]
    party: int | None
    unwraps: bool = False

    @classmethod
    def find(cls, layout: Layout) -> ProductionColumns:
        """Return the columns of a file."""
        return _find(layout.names, layout.fields, layout.reasons, unwraps=layout.judges_keys)

    @property
    def states_pages(self) -> bool:
        """Whether one of the other ranges has an end."""
        return any(pair.end is not None for pair in self.others)

    def read_own(self, cells: Sequence[str]) -> StatedRange | None:
        """Return the range of the fields that a row states, None if its begin is blank."""
        return None if self.own is None else self._read(self.own, cells)

    def read_others(self, cells: Sequence[str]) -> list[StatedRange]:
        """Return the other ranges of a row that are not blank and differ from that of the fields."""
        if not self.others:
            return []
        own = self.read_own(cells)
        ranges = (self._read(pair, cells) for pair in self.others)
        return [each for each in ranges if each and (own is None or each[1:3] != own[1:3])]

    def _read(self, pair: _Pair, cells: Sequence[str]) -> StatedRange | None:
        begin = self._read_number(cells, pair.begin)
        if not begin:
            return None
        label = pair.label or _read(cells, self.party)
        end = self._read_number(cells, pair.end) or None
        return StatedRange(pair.seq, begin, end, label[:MAX_LABEL] if label else None)

    def _read_number(self, cells: Sequence[str], index: int | None) -> str:
        text = _read(cells, index)
        return unwrap_formula(text) if self.unwraps else text


def _read(cells: Sequence[str], index: int | None) -> str:
    return "" if index is None or index >= len(cells) else cells[index].strip(ASCII_WHITESPACE)


@lru_cache(maxsize=64)
def _find(
    names: tuple[str, ...], fields: tuple[str | None, ...], reasons: tuple[str, ...], *, unwraps: bool
) -> ProductionColumns:
    free = [index for index, (field, why) in enumerate(zip(fields, reasons, strict=False)) if _is_free(field, why)]
    meanings = {index: find_field(_REPEATED.sub("", names[index])) for index in free}
    begins = [index for index in free if meanings[index] == "bates_begin"]
    ends = [index for index in free if meanings[index] == "bates_end"]
    others = []
    for seq, begin in enumerate(begins, start=1):
        end = _find_end(names, begin, ends)
        ends = [each for each in ends if each != end]
        others.append(_Pair(seq, begin, end, names[begin].rpartition("::")[0].strip() or None))
    party = next((index for index in free if normalise_name(names[index]) in _PARTIES), None)
    return ProductionColumns(_find_own(fields), tuple(others), party, unwraps)


def _is_free(field: str | None, why: str) -> bool:
    return field is None and why == MappingReason.PROPERTY


def _find_own(fields: Sequence[str | None]) -> _Pair | None:
    if "bates_begin" not in fields:
        return None
    end = fields.index("bates_end") if "bates_end" in fields else None
    return _Pair(0, fields.index("bates_begin"), end, None)


def _find_end(names: Sequence[str], begin: int, ends: Sequence[int]) -> int | None:
    """Return the column that ends what the column `begin` begins: the one of the same name but for that word."""
    stem = _EDGE.sub("", normalise_name(names[begin]), count=1)
    same = [index for index in ends if _EDGE.sub("", normalise_name(names[index]), count=1) == stem]
    return next((index for index in same if index > begin), same[0] if same else None)
