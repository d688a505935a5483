"""Which documents of the case a file lacks, decided by comparing all rows with all documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.checks.facts import RowFacts
from core.codes import CheckCode
from shell.imports.checks.id_groups import CaseRow
from tests.unit.shell.checks_reference import Found, read


def find_lacking(rows: Sequence[RowFacts], case: Sequence[CaseRow]) -> Iterator[Found]:
    """What the case has between the first and the last document of a series, with a number that no row has."""
    parsed = [(read(row.bates_begin, row.bates_end)[0], row.line, row.control_number) for row in rows]
    numbered = [(numbers, line, number) for numbers, line, number in parsed if numbers]
    suffixes = Counter(numbers.series[0] for numbers, _, _ in numbered)
    suffix = min(suffixes, key=lambda each: (-suffixes[each], each), default="")
    documents = sorted(
        (each for each in numbered if each[0].series[0] == suffix), key=lambda each: (each[0][:3], each[1])
    )
    own = {row.control_number for row in rows}
    held = [read(row.bates_begin or "", row.bates_end or "")[0] for row in case if row.control_number not in own]
    for series in {numbers.series for numbers, _, _ in documents}:
        those = [each for each in documents if each[0].series == series]
        first, last = those[0][0].first, those[-1][0].first
        numbers = [each.first for each in held if each and each.series == series and first < each.first < last]
        lacking = [one for one in numbers if not any(each.first <= one <= each.last for each, _, _ in those)]
        if 0 < len(lacking) <= len(those):
            yield CheckCode.CASE_DOCUMENTS_NOT_IN_FILE, *those[0][1:], f"{len(lacking):,}"
