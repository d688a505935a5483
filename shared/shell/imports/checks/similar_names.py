"""Find names of custodians and tags that are probably one, although the database tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, groupby, islice

from core.checks.facts import CELL_END, escape, unescape
from core.checks.findings import MAX_LISTED, Finding, warn
from core.checks.limits import DEFAULT_LIMITS, Limits
from core.checks.names import fold_person, fold_tag
from core.codes import CheckCode
from shell.utils.external_sort import ExternalSort

CUSTODIANS, TAGS = "custodians", "tags"
_FOLD = {CUSTODIANS: fold_person, TAGS: fold_tag}
_BATCH = 1_000


def find_similar_names(
    names: Iterable[tuple[str, str, int]], folder: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Finding]:
    """Yield a finding for each group of similar names.

    `names` are (kind, name, first line): kind is custodians or tags, each name is one that the database has or would
    have as a row of its own, so that names that its collation takes for one come once. Line 0: the case has the name,
    and the file does not; a group without a line of the file is not reported. `folder` is as for `find_file_findings`.
    """
    with closing(ExternalSort(folder, "names", limits.lines)) as lines:
        remaining = iter(names)
        while batch := list(islice(remaining, _BATCH)):
            lines.add([_format(*each) for each in batch])
        parsed = (text.split(CELL_END) for text in chain.from_iterable(lines.read()))
        for (kind, _), group in groupby(parsed, key=lambda cells: (cells[0], cells[1])):
            yield from _describe(kind, ((unescape(name), int(line)) for _, _, line, name in group))


def _format(kind: str, name: str, line: int) -> str:
    return CELL_END.join((kind, escape(_FOLD[kind](name)), f"{line:012d}", escape(name)))


def _describe(kind: str, names: Iterator[tuple[str, int]]) -> Iterator[Finding]:
    """Yield the finding of a group, whose names come in the order of their lines."""
    first, count, listed = 0, 0, []
    for name, line in names:
        first, count = first or line, count + 1
        if count <= MAX_LISTED:
            listed.append(f"{name!r} (line {line})" if line else f"{name!r} (in the case)")
    if count > 1 and first:
        more = f" and {count - len(listed)} more" if count > len(listed) else ""
        message = f"Line {first}: {count} {kind} are probably one: {', '.join(listed)}{more}. Use one spelling."
        yield warn(CheckCode.NAME_SIMILAR, first, None, message, "")
