"""What a file states about families that cannot be followed as it stands: FAMILY_NOT_READ and FAMILY_CONFLICT.

Guaranteed: an import and the check before it count the same values, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.families.cycles import FamilyCycle
from core.families.kinds import FamilyKind
from core.families.statements import FAMILY_FIELDS

MAX_SAMPLES, MAX_SAMPLE_CHARACTERS = 3, 200
KINDS = (FamilyKind.BEGIN, FamilyKind.RANGE, FamilyKind.MEMBERS)


class UnreadColumn(NamedTuple):
    """A column, if it is known, and the message about its values."""

    column: str | None
    message: str


@dataclass
class KindCount:
    """How many documents were named in one way, how many of them do not exist, and the first of these by line."""

    named: int = 0
    missing: int = 0
    samples: list[tuple[str, int]] = field(default_factory=list)

    def add_missing(self, key: str, line_no: int) -> None:
        """Count a value that names no document; they come in the order of the file."""
        self.missing += 1
        if len(self.samples) < MAX_SAMPLES and key not in (each for each, _ in self.samples):
            self.samples.append((key, line_no))


def describe_unread(counts: Mapping[FamilyKind, KindCount], titles: Mapping[str | None, str]) -> Iterator[UnreadColumn]:
    """Yield a warning for each column with values that name no document; `titles` are its columns by field."""
    fields = {kind: name for name, kind in FAMILY_FIELDS.items()}
    for kind in KINDS:
        count = counts.get(kind)
        if count and count.missing:
            yield UnreadColumn(titles.get(fields[kind]), _describe(kind, count))


def _describe(kind: FamilyKind, count: KindCount) -> str:
    samples = ", ".join(f"{_cut(key)} (line {line})" for key, line in count.samples)
    what = "an attachment" if kind is FamilyKind.MEMBERS else "the first document of a family"
    return (
        f"{count.missing:,} of the {count.named:,} values that name {what} are of no document of the file or the case,"
        f" such as {samples}. No parent follows from them. Import the file that has these documents, correct the cells,"
        " or choose another column."
    )


class Listed(NamedTuple):
    """A document that several rows list as their attachment, the first and last of their lines, and how many such."""

    key: str
    first_line: int
    last_line: int
    found: int


def describe_listed(listed: Sequence[Listed], titles: Mapping[str | None, str]) -> Iterator[UnreadColumn]:
    """Yield the warning about documents that several rows of the file list; `listed` are the first of them."""
    if listed:
        samples = ", ".join(f"{_cut(key)} (lines {first} and {last})" for key, first, last, _ in listed[:MAX_SAMPLES])
        message = (
            f"{listed[0].found:,} documents are listed as attachments by several rows, such as {samples}. The first of"
            " these rows has the parent. Find out which list is right, and correct the other one."
        )
        yield UnreadColumn(titles.get("family_members"), message)


def describe_cycles(cycles: Sequence[FamilyCycle], titles: Mapping[str | None, str]) -> Iterator[UnreadColumn]:
    """Yield the warning about rows of the file that lead back to themselves; the column is that of the first."""
    if cycles:
        fields = {kind: name for name, kind in FAMILY_FIELDS.items()}
        samples = "; ".join(_describe_cycle(each) for each in cycles[:MAX_SAMPLES])
        message = (
            f"{sum(len(each.places) for each in cycles):,} documents are, by what their rows state, each other's"
            f" parents, directly or through others, such as {samples}. Find out which of them is the parent, and"
            " correct its row."
        )
        yield UnreadColumn(titles.get(fields[cycles[0].kind]), message)


def _describe_cycle(cycle: FamilyCycle) -> str:
    shown = [f"{_cut(number)} (line {line})" for number, line in cycle.places[:MAX_SAMPLES]]
    more = len(cycle.places) - len(shown)
    return " and ".join([*shown, f"{more:,} more"] if more else shown)


def _cut(key: str) -> str:
    shown = " ".join(key.split())
    return shown if len(shown) <= MAX_SAMPLE_CHARACTERS else f"{shown[:MAX_SAMPLE_CHARACTERS]}… (cut)"
