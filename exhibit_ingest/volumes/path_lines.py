"""Sentences about how the paths of a volume's load files were found, and which options would find the others."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from exhibit_ingest.printable import shorten_printable

Document = dict[str, Any]
_SHOWN = 100
# The rules by which the file of a path is found, as docs/load-files.md numbers them.
_ROOT = 3
RULES = {
    2: "without the prefix",
    _ROOT: "by their paths",
    4: "without the volume's name",
    5: "below the folder of the load file",
    6: "with another spelling of case or accents",
    7: "in the folder of --add-prefix",
    8: "below the folder of the volume column",
    9: "below a folder beside the load file",
}


def describe_paths(paths: Sequence[Document], *, is_imported: bool, with_all: bool = False) -> Iterator[str]:
    """Yield the lines about each kind of file; `with_all` also where all were found by their own paths.

    `is_imported`: options help when the volume is imported again.
    """
    for each in paths:
        if with_all or each["missing"] or any(one["rule"] != _ROOT for one in each["found_by_rule"]):
            yield f"{each['kind']}s: {each['found']:,} of {each['found'] + each['missing']:,} found{_list_rules(each)}"
            shown = [one for one in each["found_by_rule"] if with_all or one["rule"] != _ROOT]
            yield from map(_describe_example, shown)
        if each["missing"]:
            yield _describe_missing(each, is_imported=is_imported)


def describe_archives(paths: Sequence[Document], archives: Sequence[str]) -> Iterator[str]:
    """Yield the line about archives at the top of the volume, if files are missing: they can be in one of these."""
    if archives and any(each["missing"] for each in paths):
        named = ", ".join(shorten_printable(each, _SHOWN) for each in archives)
        yield f"Archives inside the volume are not unpacked: {named}. If they have the files, unpack them first."


def _list_rules(kind: Document) -> str:
    rules = [f"{one['files']:,} {_name_rule(one['rule'])}" for one in kind["found_by_rule"]]
    return f": {', '.join(rules)}" if rules else ""


def _name_rule(number: int) -> str:
    # A newer API may have more of them.
    return RULES.get(number, f"by rule {number}")


def _describe_example(one: Document) -> str:
    path, file = shorten_printable(one["path"], _SHOWN), shorten_printable(one["file"], _SHOWN)
    return f"  rule {one['rule']}, {_name_rule(one['rule'])}: line {one['line']}: {path} -> {file}"


def _describe_missing(kind: Document, *, is_imported: bool) -> str:
    is_one, advice, elsewhere = kind["missing"] == 1, kind["advice"], kind["elsewhere"]
    first = _count_missing(kind)
    if advice:
        files = "it" if is_one else f"{advice['files']:,} of them"
        again = " and --mode append_overlay" if is_imported else ""
        return f"{first} The volume has {files} elsewhere: use {_format(advice)}{again}."
    if elsewhere:
        has = "The volume" if is_one else f"For {elsewhere:,} of them, the volume"
        return f"{first} {has} has a file of the same name in another folder; the warnings say where."
    return f"{first} The volume has no {'file of this name' if is_one else 'files of their names'}."


def _count_missing(kind: Document) -> str:
    one, count, path = kind["kind"], kind["missing"], shorten_printable(kind["first_missing"], _SHOWN)
    if count == 1:
        return f"{'1' if kind['found'] else 'The'} {one} was not found: {path}."
    what = f"{count:,} {one}s were not" if kind["found"] else f"None of the {count:,} {one}s was"
    return f"{what} found, such as {path}."


def _format(advice: Document) -> str:
    given = {"--strip-prefix": advice["strip_prefix"], "--add-prefix": advice["add_prefix"]}
    return " ".join(
        f"{option} {shlex.quote(shorten_printable(value, 200))}" for option, value in given.items() if value
    )
