"""Paths of load files: each means the file that the rules say, hostile ones mean none, and no file outside exists."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import VolumeCode
from core.volumes.paths import (
    HASH_BYTES,
    MAX_TEXT_CHARACTERS,
    Candidate,
    PathError,
    PathRule,
    Resolved,
    fold_path,
    hash_path,
    list_candidates,
    resolve,
)

WHITESPACE = " \t\n\r\x0b\x0c"


class File(NamedTuple):
    path: str


def find(
    text: str,
    files: Iterable[str],
    *,
    volume_name: str | None = "VOL001",
    load_file_folder: str = "DATA",
    strip_prefix: str | None = None,
    root: str = "",
) -> tuple[str, PathRule | None]:
    """The path of the file or the code, and the rule."""
    candidates = list_candidates(
        text,
        volume_name=volume_name,
        load_file_folder=load_file_folder,
        strip_prefixes=[] if strip_prefix is None else [strip_prefix],
        root=root,
    )
    if isinstance(candidates, PathError):
        return candidates.code, None
    found = resolve(candidates, by_hash(files))
    if isinstance(found, Resolved):
        return found.file.path, found.rule
    return ("", None) if found is None else (found.code, None)


def by_hash(files: Iterable[str]) -> dict[bytes, list[File]]:
    found = defaultdict(list)
    for path in files:
        found[hash_path(fold_path(path))].append(File(path))
    return found


def reference(
    text: str, files: Sequence[str], volume_name: str | None, folder: str, prefix: str | None, root: str
) -> tuple[str, PathRule | None]:
    """What a path means, from the rules in words: every file is compared with every reading of the path."""
    stripped = in_parts((prefix or "").strip(WHITESPACE))
    parts = in_parts(text.strip(WHITESPACE))
    has_prefix = bool(stripped) and [*map(fold, stripped)] == [*map(fold, parts[: len(stripped)])]
    rest = parts[len(stripped) :] if has_prefix else parts
    if is_refused(text.strip(WHITESPACE), rest, has_prefix):
        return VolumeCode.PATH_REFUSED.value, None
    tops = [fold(name) for name in (volume_name, root.split("/")[-1]) if name]
    readings = [
        (in_parts(root) + rest, PathRule.STRIPPED_PREFIX if has_prefix else PathRule.ROOT),
        *([(in_parts(root) + rest[1:], PathRule.VOLUME_NAME)] if fold((*rest, "")[0]) in tops and rest[1:] else []),
        (in_parts(folder) + rest, PathRule.LOAD_FILE_FOLDER),
    ]
    return look_up(["/".join(reading) for reading, _ in readings if rest], [rule for _, rule in readings], files)


def is_refused(text: str, parts: list[str], has_prefix: bool) -> bool:
    odd = any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
    first = (*parts, "")[0]
    drive = first[1:2] == ":" and first[0].isascii() and first[0].isalpha()
    url = len(parts) > 1 and first.endswith(":") and re.fullmatch("[a-zA-Z][-+.a-zA-Z0-9]*", first[:-1])
    return odd or ".." in in_parts(text) or drive or bool(url) or (is_share(text) and not has_prefix)


def look_up(readings: list[str], rules: list[PathRule], files: Sequence[str]) -> tuple[str, PathRule | None]:
    for reading, rule in zip(readings, rules, strict=False):
        if reading in files:
            return reading, rule
    for reading in readings:
        similar = [file for file in files if fold(file) == fold(reading)]
        if similar:
            return (similar[0], PathRule.FOLDED) if len(similar) == 1 else (VolumeCode.PATH_AMBIGUOUS.value, None)
    return "", None


def in_parts(text: str) -> list[str]:
    return [part for part in text.replace("\\", "/").split("/") if part and part != "."]


def is_share(text: str) -> bool:
    marks = "".join("s" if character in "/\\" else "x" for character in text)
    return marks.startswith("ss") and not all(len(run) in (0, 2) for run in marks.split("x"))


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


SEPARATORS = ("/", "\\", "\\\\", "//", "\\\\\\", "/./", ".\\")
SEGMENTS = (
    *("..", ".", "...", "", " ", "a", "A", "b", "VOL001", "vol001", "DATA", "NATIVES", "é", "e\u0301", "É"),
    *("ß", "SS", "İ", "ſ", "K", "a.", "a ", " a", "%2e%2e", "%41", "x:y", "Re: x", "\u202e", "…", "．．", "😀", "ΐ"),
)
HOSTILE = ("C:", "c:a", "file:", "https:", "s3:", "\x00", "\n", "\x7f", "\x9f", "\ud800", "\u2028", "\\\\srv\\share\\")
PREFIXES = (None, "", "C:", "c:\\", "\\\\srv\\share", "//SRV/share/", "https://a", "a", "A\\b\\", "vol001", "\\\\srv")
PIECES = st.sampled_from(SEGMENTS + SEPARATORS) | st.sampled_from(SEGMENTS + SEPARATORS + HOSTILE)
TEXTS = st.lists(PIECES, max_size=9).map("".join) | st.lists(st.sampled_from(SEGMENTS)).map("\\".join) | st.text()
NAMES = st.sampled_from([name for name in SEGMENTS if name not in ("", ".", "..")])
FILES = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=12, unique=True)


@given(TEXTS, FILES, st.sampled_from([None, "VOL001", "a"]), st.sampled_from(["", "DATA", "a/b"]), st.data())
def test_a_path_means_what_the_rules_say(
    text: str, files: list[str], volume_name: str | None, folder: str, data: st.DataObject
) -> None:
    prefix = data.draw(st.sampled_from(PREFIXES))
    root = data.draw(st.sampled_from(["", "VOL001", "é"]))
    found = find(text, files, volume_name=volume_name, load_file_folder=folder, strip_prefix=prefix, root=root)
    assert found == reference(text, files, volume_name, folder, prefix, root)
    assert found[1] is None or found[0] in files


@given(FILES, st.data())
def test_a_file_is_found_by_every_way_to_write_its_path(files: list[str], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([*files, "b"]))
    before = data.draw(st.sampled_from(["", "/", ".\\", "VOL009\\", "./VOL009/"]))
    separator = data.draw(st.sampled_from(["/", "\\", "\\\\"]))
    text = (before + path).replace("/", separator).replace("\\.\\", "\\")
    if path == path.strip() and path[1:2] != ":":
        assert find(text, [*files, path], volume_name="vol009")[0] == path


RULES = [
    (r"NATIVES\0001\A1.doc", "NATIVES/0001/A1.doc", PathRule.ROOT),
    (r".\NATIVES\0001\A1.doc", "NATIVES/0001/A1.doc", PathRule.ROOT),
    (r"\NATIVES\0001\A1.doc", "NATIVES/0001/A1.doc", PathRule.ROOT),
    (r"\\NATIVES\\0001\\A1.doc", "NATIVES/0001/A1.doc", PathRule.ROOT),
    (r"NATIVES\\0001\\A1.doc", "NATIVES/0001/A1.doc", PathRule.ROOT),
    ("  NATIVES/0001/A1.doc\r\n", "NATIVES/0001/A1.doc", PathRule.ROOT),
    (r"VOL001\NATIVES\0001\A1.doc", "NATIVES/0001/A1.doc", PathRule.VOLUME_NAME),
    (r"vol001\NATIVES\0001\A1.doc", "NATIVES/0001/A1.doc", PathRule.VOLUME_NAME),
    (r"images\A1.tif", "DATA/images/A1.tif", PathRule.LOAD_FILE_FOLDER),
    (r"natives\0001\a1.DOC", "NATIVES/0001/A1.doc", PathRule.FOLDED),
    ("Caf\u00e9.doc", "Cafe\u0301.doc", PathRule.FOLDED),
    ("100%41.doc", "", None),
    ("dot..doc", "dot..doc", PathRule.ROOT),
    ("NATIVES", "", None),
    ("", "", None),
    (".", "", None),
]
FILES_OF_RULES = ("NATIVES/0001/A1.doc", "DATA/images/A1.tif", "Cafe\u0301.doc", "100A.doc", "dot..doc")


@pytest.mark.parametrize(("text", "path", "rule"), RULES)
def test_a_path_is_found_by_its_rule(text: str, path: str, rule: PathRule | None) -> None:
    assert find(text, FILES_OF_RULES) == (path, rule)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        (r"D:\export\A.doc", "d:/EXPORT/"),
        (r"\\server\share\A.doc", r"\\SERVER\share"),
        (r"\\\\server\\share\\A.doc", r"\\server\share"),
        ("https://host/share/A.doc", "https://host/share"),
        ("file:///D:/A.doc", "file:///d:/"),
        ("/mnt/export/A.doc", "/mnt/export"),
    ],
)
def test_a_prefix_is_stripped_at_a_segment_in_any_case(text: str, prefix: str) -> None:
    assert find(text, ["A.doc"], strip_prefix=prefix) == ("A.doc", PathRule.STRIPPED_PREFIX)
    assert find(text, ["A.doc", "rtA.doc"], strip_prefix=prefix[:-2]) != ("A.doc", PathRule.STRIPPED_PREFIX)


@pytest.mark.parametrize(
    "text",
    [
        *(r"..\A.doc", "a/../A.doc", "..", r"D:\..\A.doc", "D:A.doc", r"D:\A.doc", r".\D:\A.doc", r"\D:\A.doc"),
        *(r"\\server\share\A.doc", "//server/share/A.doc", r"\\?\D:\A.doc", r"\\\\server\\share\\A.doc"),
        *("file:///A.doc", "s3://bucket/A.doc", "a\x00.doc", "a\nb", "a\x85b", "\ud800.doc"),
        "a" * (MAX_TEXT_CHARACTERS + 1),
    ],
)
def test_a_path_out_of_the_volume_is_refused(text: str) -> None:
    assert find(text, ["A.doc", "server/share/A.doc"]) == (VolumeCode.PATH_REFUSED, None)


def test_the_top_folder_is_the_root_and_a_name_of_the_volume() -> None:
    files, root = ["export/NATIVES/A.doc", "export/DATA/x.dat"], "export"
    for text in ("NATIVES/A.doc", "VOL001/NATIVES/A.doc", "EXPORT/NATIVES/A.doc"):
        assert find(text, files, root=root)[0] == files[0]


def test_an_exact_path_comes_before_folded_ones_and_two_of_these_are_ambiguous() -> None:
    files = ["a.doc", "A.DOC", "DATA/A.doc"]
    assert find("a.doc", files) == ("a.doc", PathRule.ROOT)
    assert find("A.doc", files) == ("DATA/A.doc", PathRule.LOAD_FILE_FOLDER)
    assert find("A.Doc", files) == (VolumeCode.PATH_AMBIGUOUS, None)


def test_files_that_have_the_hash_but_not_the_path_are_not_found() -> None:
    candidates = list_candidates("a.doc")
    assert not isinstance(candidates, PathError)
    assert [(each.path, len(each.hash)) for each in candidates] == [("a.doc", HASH_BYTES)]
    assert resolve(candidates, {candidates[0].hash: [File("b.doc"), File("c.doc")]}) is None
    assert resolve([Candidate("x", PathRule.ROOT, "x", b"")], {}) is None


def test_no_character_folds_to_a_separator_a_dot_or_a_control_character() -> None:
    special = {*"/\\.:", *map(chr, range(32))}
    others = (chr(code) for code in range(128, sys.maxunicode + 1))
    assert [character for character in others if special & set(fold_path(character))] == []
