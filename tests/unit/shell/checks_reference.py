"""What the checks of a whole file must find, decided in memory by comparing everything with everything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from core.checks.facts import RowFacts
from core.checks.findings import Finding
from core.codes import CheckCode
from shell.imports.checks.id_groups import CaseRow
from tests.unit.shell.near_ids_reference import find_near_ids, fold

Found = tuple[Any, ...]
# What of a message is compared, by code; of the others only the code, the line and the id.
DETAILS = {
    CheckCode.BATES_GAP: re.compile(r"(\d+) missing: (.*), between line (\d+) and"),
    CheckCode.BATES_OVERLAP: re.compile(
        r"has numbers of line (\d+),|covers the ranges of (\d+) other documents, from line (\d+) with"
    ),
    CheckCode.BATES_OVERLAP_CASE: re.compile(r"document (.*) of the case"),
    CheckCode.CASE_DOCUMENTS_NOT_IN_FILE: re.compile(r"the case has ([\d,]+) documents? with numbers between"),
    CheckCode.FAMILY_GAP: re.compile(r"(\d+) missing in the family range .*: (\S+(?: to \S+)?), "),
    CheckCode.PARENT_CYCLE: re.compile(r"lines ([\d, ]+) are"),
    CheckCode.NATIVE_DUPLICATE: re.compile(r": (\d+) documents .*: lines ([\d, ]+)"),
    CheckCode.ID_SIMILAR: re.compile(r": (\d+) ids .*; lines ([\d, ]+)"),
}


def identify(finding: Finding) -> Found:
    """Return what is compared of a finding."""
    form = DETAILS.get(finding.code)
    found = form.search(finding.message) if form else None
    assert form is None or found, finding.message
    assert finding.message.startswith(f"Line {finding.line}: ")
    return (finding.code, finding.line, finding.control_number, *(found.groups() if found else ()))


class Numbers(NamedTuple):
    """First and last number of a series."""

    series: tuple[str, str]
    first: int
    last: int
    width: int

    def write(self, first: int, last: int) -> str:
        """Return one number, or two."""
        texts = [f"{self.series[1]}{number:0{self.width}d}{self.series[0]}" for number in (first, last)]
        return texts[0] if first == last else " to ".join(texts)

    def shares(self, other: Numbers) -> bool:
        """Whether the two have a number in common."""
        return self.series == other.series and self.first <= other.last and other.first <= self.last

    def within(self, other: Numbers) -> bool:
        """Whether the other has all of these numbers."""
        return self.series == other.series and self.shares(other) and self == self.clip(other)

    def clip(self, other: Numbers) -> Numbers:
        """Return what of these numbers the other has."""
        return self._replace(first=max(self.first, other.first), last=min(self.last, other.last))


Entry = tuple[Numbers, int, str]


def parse(text: str) -> tuple[tuple[str, str], str] | None:
    found = re.fullmatch(r"(?s)(.*?)([0-9]+)([^0-9]*)", text)
    return ((found[3], found[1]), found[2]) if found else None


def read(begin: str, end: str) -> tuple[Numbers | None, list[CheckCode]]:
    first, last = parse(begin), parse(end or begin)
    if first is None:
        return None, [CheckCode.BATES_UNPARSED] if begin or end else []
    alone = Numbers(first[0], int(first[1]), int(first[1]), len(first[1]))
    if last is None:
        return alone, [CheckCode.BATES_UNPARSED]
    if last[0] != first[0]:
        return alone, [CheckCode.BATES_PREFIX]
    codes = [CheckCode.BATES_WIDTH] if len(last[1]) != len(first[1]) else []
    codes += [CheckCode.BATES_REVERSED] if int(last[1]) < int(first[1]) else []
    low, high = sorted((int(first[1]), int(last[1])))
    return Numbers(first[0], low, high, alone.width), codes


def state(row: RowFacts) -> tuple[Numbers | None, list[CheckCode]]:
    if not row.family_begin or not row.family_end:
        return None, []
    stated, codes = read(row.family_begin, row.family_end)
    return (None if set(codes) - {CheckCode.BATES_WIDTH} else stated), codes


def place(row: RowFacts, stated: Numbers) -> Numbers | None:
    numbers, own = read(row.bates_begin, row.bates_end)[0], read(row.control_number, "")[0]
    if own and own.series == stated.series and (numbers is None or numbers.series != stated.series):
        return own
    return numbers


def is_outside(row: RowFacts, stating: RowFacts) -> bool:
    stated, _ = state(stating)
    position = place(row, stated) if stated else None
    return position is not None and stated is not None and not position.within(stated)


def find_expected(rows: Sequence[RowFacts], case: Sequence[CaseRow], in_case: Iterable[str]) -> Counter[Found]:
    """Return what the checks must find, each finding as `identify` gives it."""
    found: Counter[Found] = Counter()
    for each in (
        _rows(rows),
        _families(rows),
        _parents(rows, set(in_case)),
        _groups(rows),
        _series(rows, case),
        find_near_ids(rows, case),
    ):
        found.update(each)
    return found


def _rows(rows: Sequence[RowFacts]) -> Iterator[Found]:
    for row in rows:
        numbers, codes = read(row.bates_begin, row.bates_end)
        for code in (*codes, *state(row)[1]):
            yield code, row.line, row.control_number
        pages = numbers.last - numbers.first + 1 if numbers and row.bates_end and not codes else None
        if row.page_count and pages and pages != row.page_count:
            yield CheckCode.BATES_PAGES, row.line, row.control_number
        if is_outside(row, row):
            yield CheckCode.FAMILY_RANGE, row.line, row.control_number


def _families(rows: Sequence[RowFacts]) -> Iterator[Found]:
    families: dict[tuple[Any, ...], list[tuple[Numbers, int, str]]] = {}
    for row in rows:
        stated, _ = state(row)
        position = place(row, stated) if stated else None
        if stated and position and position.shares(stated):
            families.setdefault(stated[:3], []).append((position, row.line, row.control_number))
    for (_, first, last), members in families.items():
        members.sort(key=lambda member: (member[0].first, member[0].last, member[1]))
        missing = set(range(first, last + 1)) - {n for at, _, _ in members for n in range(at.first, at.last + 1)}
        for start, end in runs(missing):
            after = [member for member in members if member[0].first > end]
            before = max(members, key=lambda member: (member[0].last, -member[0].first, -member[1]))
            numbers, line, number = after[0] if after else before
            yield CheckCode.FAMILY_GAP, line, number, str(end - start + 1), numbers.write(start, end)


def runs(numbers: set[int]) -> Iterator[tuple[int, int]]:
    for number in sorted(numbers):
        if number - 1 not in numbers:
            end = number
            while end + 1 in numbers:
                end += 1
            yield number, end


def _parents(rows: Sequence[RowFacts], in_case: set[str]) -> Iterator[Found]:
    by_number = {row.control_number: row for row in rows}
    parents = {row[1]: row.parent_control_number for row in rows if row.parent_control_number not in ("", row[1])}
    for child, parent in parents.items():
        row, above = by_number[child], by_number.get(parent)
        if above is None and parent not in in_case:
            yield CheckCode.PARENT_MISSING, row.line, child
        if above and row[7:] != above[7:] and _disagree(row, above):
            yield CheckCode.FAMILY_RANGE, row.line, child
    yield from _cycles({child: parent for child, parent in parents.items() if parent in by_number}, by_number)


def _disagree(row: RowFacts, above: RowFacts) -> bool:
    return not is_outside(row, row) and (is_outside(above, row) or is_outside(row, above))


def _cycles(left: dict[str, str], by_number: dict[str, RowFacts]) -> Iterator[Found]:
    while rooted := [child for child, parent in left.items() if parent not in left]:
        for child in rooted:
            del left[child]
    for child in left:
        path = [child]
        while left[path[-1]] not in path:
            path.append(left[path[-1]])
        if left[path[-1]] == child:
            lines = ", ".join(map(str, sorted(by_number[number].line for number in path)))
            yield CheckCode.PARENT_CYCLE, by_number[child].line, child, lines


def _groups(rows: Sequence[RowFacts]) -> Iterator[Found]:
    keys = {CheckCode.NATIVE_DUPLICATE: [row[5] for row in rows], CheckCode.ID_SIMILAR: [fold(row[1]) for row in rows]}
    for code, values in keys.items():
        groups: dict[str, list[RowFacts]] = {}
        for key, row in zip(values, rows, strict=True):
            groups.setdefault(key, []).append(row)
        for value, group in groups.items():
            if value and len(group) > 1:
                lines = ", ".join(str(row.line) for row in group)
                yield code, group[0].line, group[0].control_number, str(len(group)), lines


def _series(rows: Sequence[RowFacts], case: Sequence[CaseRow]) -> Iterator[Found]:
    parsed = [(read(row.bates_begin, row.bates_end)[0], row.line, row.control_number) for row in rows]
    documents = [(numbers, line, number) for numbers, line, number in parsed if numbers]
    suffixes = Counter(numbers.series[0] for numbers, _, _ in documents)
    suffix = min(suffixes, key=lambda each: (-suffixes[each], each), default="")
    for numbers, line, number in documents:
        if numbers.series[0] != suffix:
            yield CheckCode.BATES_UNPARSED, line, number
    documents = [each for each in documents if each[0].series[0] == suffix]
    documents.sort(key=lambda each: (each[0][:3], each[1]))
    finds_gaps = any(row.bates_end and parse(row.bates_begin) for row in rows) or _by_document(parsed)
    covered: dict[int, list[Entry]] = {}
    for position, (numbers, line, number) in enumerate(documents):
        before = [each for each in documents[:position] if each[0].series == numbers.series]
        if not before:
            continue
        # The first of those with the highest number.
        highest = max(before, key=lambda each: each[0].last)
        if highest[0].last >= numbers.first:
            yield from _overlap(documents[position], highest, covered)
        elif finds_gaps and highest[0].last + 1 < numbers.first:
            first, last = highest[0].last + 1, numbers.first - 1
            yield CheckCode.BATES_GAP, line, number, str(last - first + 1), numbers.write(first, last), str(highest[1])
        if before[-1][0].width != numbers.width:
            yield CheckCode.BATES_WIDTH, line, number
    yield from _covers(documents, covered)
    yield from _with_case(documents, rows, case)


def _overlap(entry: Entry, highest: Entry, covered: dict[int, list[Entry]]) -> Iterator[Found]:
    numbers, line, number = entry
    inner = highest
    if numbers.last <= highest[0].last and numbers.last - numbers.first < highest[0].last - highest[0].first:
        inside = covered.setdefault(highest[1], [])
        inner = max(inside, key=lambda each: each[0].last, default=entry)
        inside.append(entry)
    if inner[1] != line and inner[0].last >= numbers.first:
        yield CheckCode.BATES_OVERLAP, line, number, str(inner[1]), None, None


def _covers(documents: Sequence[Entry], covered: Mapping[int, list[Entry]]) -> Iterator[Found]:
    by_line = {line: number for _, line, number in documents}
    for wide, inside in covered.items():
        _, first, number = inside[0]
        if len(inside) == 1:
            yield CheckCode.BATES_OVERLAP, first, number, str(wide), None, None
        else:
            yield CheckCode.BATES_OVERLAP, wide, by_line[wide], None, str(len(inside)), str(first)


def _by_document(parsed: Sequence[tuple[Numbers | None, int, str]]) -> bool:
    distinct = sorted({numbers[:2] for numbers, _, _ in parsed if numbers})
    steps = [after[1] - before[1] for before, after in pairwise(distinct) if before[0] == after[0]]
    return 2 * steps.count(1) > len(steps)


def _with_case(
    documents: Sequence[tuple[Numbers, int, str]], rows: Sequence[RowFacts], case: Sequence[CaseRow]
) -> Iterator[Found]:
    own = {row.control_number for row in rows}
    others = [(read(row.bates_begin or "", row.bates_end or "")[0], row.control_number) for row in case]
    for numbers, line, number in documents:
        shared = {name for held, name in others if held and name not in own and held.shares(numbers)}
        if shared:
            yield CheckCode.BATES_OVERLAP_CASE, line, number, frozenset(shared)


def match(found: Iterable[Finding], expected: Counter[Found]) -> tuple[Counter[Found], Counter[Found]]:
    """Return what was found and not expected, and the reverse.

    Of several documents of the case that share numbers with a row, a finding names one.
    """
    shared = {each[1:3]: each for each in expected if each[0] is CheckCode.BATES_OVERLAP_CASE}
    actual: Counter[Found] = Counter()
    for each in map(identify, found):
        entry = shared.get(each[1:3])
        actual[entry if entry and each[0] is entry[0] and each[3] in entry[3] else each] += 1
    return actual - expected, expected - actual


def name_lines(rows: Sequence[RowFacts], finding: Finding) -> set[int]:
    """Return the lines that a finding about an overlap names: two, or a range's and all that it covers."""
    _, line, _, other, count, _ = identify(finding)
    if count is None:
        return {line, int(other)}
    numbers = {row.line: read(row.bates_begin, row.bates_end)[0] for row in rows}
    wide = numbers[line]
    assert wide is not None
    return {each for each, found in numbers.items() if found and found.within(wide)}


def pairs(rows: Sequence[RowFacts]) -> set[int]:
    """Return the lines of all rows that share a number with another row."""
    numbers = [(read(row.bates_begin, row.bates_end)[0], row.line) for row in rows]
    shared = ((one, two) for (a, one), (b, two) in combinations(numbers, 2) if a and b and a.shares(b))
    return {line for both in shared for line in both}
