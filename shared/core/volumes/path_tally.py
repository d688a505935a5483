"""How the paths of a load file were found, by rule with an example of each, and which options would find the others.

Guaranteed: tallies of chunks unite to the tally of the file in any order. An option is only named for paths that it
turns into the path of a file of the volume; of more than MAX_REPAIRS different ones in a chunk the rarest are left out,
so that a count of files is the least that it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.load_file.encoding import replace_surrogates
from core.load_file.grammar import ASCII_WHITESPACE
from core.volumes.path_guesses import count_shared
from core.volumes.paths import MAX_SHOWN, Elsewhere, PathError, Resolved, split_path

MAX_REPAIRS = 10
KINDS = ("native", "text", "image")


class Example(NamedTuple):
    """A path of the load file, its line, and the path of its file; blank for one that is missing."""

    line_no: int
    text: str
    path: str = ""


class Repair(NamedTuple):
    """The options that find files which are missing; blank for one that is not needed. `files` are how many."""

    strip_prefix: str
    add_prefix: str
    files: int


@dataclass
class KindTally:
    """What was found of one kind of files: natives, texts or images.

    `found` is by rule: how many paths, and the first one by line. `elsewhere` are the missing ones whose name the
    volume has at another path.
    """

    found: dict[int, tuple[int, Example]] = field(default_factory=dict)
    missing: int = 0
    elsewhere: int = 0
    first_missing: Example | None = None
    repairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, line_no: int, text: str, resolved: Resolved[Any] | PathError | Elsewhere | None) -> None:
        """Add a path of a line; lines come in order."""
        if isinstance(resolved, Resolved):
            rule = int(resolved.rule)
            if rule not in self.found:
                self.found[rule] = (0, Example(line_no, _shorten(text), _shorten(resolved.file.path)))
            count, example = self.found[rule]
            self.found[rule] = (count + 1, example)
            return
        elsewhere = resolved.elsewhere if isinstance(resolved, PathError) else resolved
        self.missing += 1
        self.first_missing = self.first_missing or Example(line_no, _shorten(text))
        if elsewhere is not None:
            self.elsewhere += 1
            self.repairs[find_repair(text, elsewhere.path)] += 1

    def unite(self, other: KindTally) -> None:
        """Add what another tally counted."""
        for rule, (count, example) in other.found.items():
            known, first = self.found.get(rule, (0, example))
            self.found[rule] = (known + count, min(first, example))
        self.missing += other.missing
        self.elsewhere += other.elsewhere
        self.first_missing = min(filter(None, (self.first_missing, other.first_missing)), default=None)
        self.repairs.update(other.repairs)

    def list_repairs(self) -> list[Repair]:
        """Return the options that would find missing files, those that find most of them first."""
        ranked = sorted(self.repairs.items(), key=lambda one: (-one[1], one[0]))
        return [Repair(*options, files) for options, files in ranked[:MAX_REPAIRS]]

    def find_main_repair(self) -> Repair | None:
        """Return the options that would find at least half of what is missing, None if there are none.

        They precede all paths, so they must find no fewer files than were found: a native can have the name of a text.
        """
        best, found = next(iter(self.list_repairs()), None), sum(count for count, _ in self.found.values())
        return best if best and 2 * best.files >= self.missing and best.files >= found else None


class PathTally:
    """The tally of a chunk or of a file, by kind."""

    def __init__(self) -> None:
        self.kinds: dict[str, KindTally] = {}

    def add(self, kind: str, line_no: int, text: str, resolved: Resolved[Any] | PathError | Elsewhere | None) -> None:
        """Add a path that names a file of this kind."""
        self.kinds.setdefault(kind, KindTally()).add(line_no, text, resolved)

    def unite(self, other: PathTally) -> None:
        """Add what another tally counted."""
        for kind, tally in other.kinds.items():
            self.kinds.setdefault(kind, KindTally()).unite(tally)

    def to_json(self) -> str | None:
        """Return the tally for `from_json`, None if it has no path."""
        document = {
            kind: [
                sorted([rule, count, *example] for rule, (count, example) in tally.found.items()),
                [tally.missing, tally.elsewhere, tally.first_missing],
                tally.list_repairs(),
            ]
            for kind, tally in sorted(self.kinds.items())
        }
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")) if document else None

    @classmethod
    def from_json(cls, document: str) -> PathTally:
        """Return the tally that `to_json` wrote."""
        tally = cls()
        for kind, (found, (missing, elsewhere, first), repairs) in json.loads(document).items():
            tally.kinds[kind] = KindTally(
                {rule: (count, Example(*example)) for rule, count, *example in found},
                *(missing, elsewhere, first and Example(*first)),
                Counter({(strip, add): files for strip, add, files in repairs}),
            )
        return tally


def unite_all(documents: Iterable[str]) -> PathTally:
    """Return the tally of all chunks whose tallies these are."""
    whole = PathTally()
    for document in documents:
        whole.unite(PathTally.from_json(document))
    return whole


def find_repair(text: str, path: str) -> tuple[str, str]:
    """Return what to strip from a path and what to add to it, so that it is that of a file of the same name."""
    trimmed = text.strip(ASCII_WHITESPACE)
    segments, others = split_path(trimmed), split_path(path)
    shared = count_shared(segments, others)
    kept = segments[: len(segments) - shared]
    start = "\\\\" if kept and trimmed.startswith(("\\\\", "//")) else ""
    return start + "\\".join(kept), "/".join(others[: len(others) - shared])


def _shorten(text: str) -> str:
    return replace_surrogates(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}...")


def list_figures(tally: PathTally) -> list[dict[str, Any]]:
    """Return what was found of each kind, with the members of `core.contracts.paths.PathFigures`."""
    return [_describe(kind, tally.kinds[kind]) for kind in KINDS if kind in tally.kinds]


def _describe(kind: str, tally: KindTally) -> dict[str, Any]:
    by_rule = [
        {"rule": rule, "files": count, "line": example.line_no, "path": example.text, "file": example.path}
        for rule, (count, example) in sorted(tally.found.items(), key=lambda one: (-one[1][0], one[0]))
    ]
    repair = tally.find_main_repair()
    return {
        "kind": kind,
        "found": sum(count for count, _ in tally.found.values()),
        "found_by_rule": by_rule,
        "missing": tally.missing,
        "elsewhere": tally.elsewhere,
        "first_missing": tally.first_missing and tally.first_missing.text,
        "advice": repair and {name: value or None for name, value in repair._asdict().items()},
    }
