"""Paths whose beginning is missing are found where the volume column, a folder beside or an option says, or nowhere."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import VolumeCode
from core.file_options import FileOptions
from core.volumes.folders import MAX_FOLDERS, FolderSurvey, list_beside
from core.volumes.path_guesses import NamedPath, choose_elsewhere, resolve_guesses
from core.volumes.path_tally import PathTally, find_repair, unite_all
from core.volumes.paths import Elsewhere, PathError, PathRule, Resolved, fold_path, hash_path, resolve, split_path
from core.volumes.places import VolumePlace


class File(NamedTuple):
    path: str


def find(
    named: NamedPath, files: Sequence[str], load_file: str, options: FileOptions, top: str | None = None
) -> tuple[str, PathRule | None]:
    """The path of the file, or the code, and the rule: as the lookup of a chunk finds it."""
    survey = FolderSurvey()
    for path in (*files, load_file):
        survey.add(path)
    place = VolumePlace.of_load_file("VOL001", load_file, top, survey.select_near([load_file]), options)
    candidates = place.list_candidates(named)
    if isinstance(candidates, PathError):
        return candidates.code, None
    by_hash = defaultdict(list)
    for path in files:
        by_hash[hash_path(fold_path(path))].append(File(path))
    found = resolve(candidates, by_hash) or resolve_guesses(place.list_guesses(named), by_hash)
    if isinstance(found, Resolved):
        return found.file.path, found.rule
    return ("", None) if found is None else (found.code, None)


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def in_parts(text: str) -> list[str]:
    return [part for part in text.replace("\\", "/").split("/") if part and part != "."]


def reference(
    named: NamedPath, files: Sequence[str], load_file: str, options: FileOptions, top: str | None
) -> tuple[str, PathRule | None]:
    """What a path means, from the rules in words: every file is compared with every reading of the path."""
    parts, base, folder = in_parts(named.text), in_parts(top or ""), in_parts(load_file)[:-1]
    base = folder[:-1] if folder and folder[-1].lower() == "data" else base
    stripped = [in_parts(each) for each in options.strip_prefixes]
    fitting = [each for each in stripped if [*map(fold, each)] == [*map(fold, parts[: len(each)])]]
    length = max(map(len, fitting), default=0)
    parts, own = parts[length:], PathRule.STRIPPED_PREFIX if length else PathRule.ROOT
    if (parts and parts[0][1:2] == ":") or not parts:
        return (VolumeCode.PATH_REFUSED.value, None) if parts else ("", None)
    added, column = in_parts(options.add_prefix or ""), in_parts(named.volume.strip().removeprefix("@"))
    names = [fold(name) for name in ("VOL001", *base[-1:])]
    below = parts[1:] if fold(parts[0]) in names else []
    stated = [
        *(
            [(PathRule.ADDED_PREFIX, [*base, *added, *parts]), (PathRule.ADDED_PREFIX, [*added, *parts])]
            if added
            else []
        ),
        (own, [*base, *parts]),
        *([(PathRule.VOLUME_NAME, [*base, *below])] if below else []),
        (PathRule.LOAD_FILE_FOLDER, [*folder, *parts]),
    ]
    for rule in dict.fromkeys(rule for rule, _ in stated):
        exact = {"/".join(reading) for of, reading in stated if of is rule} & set(files)
        first = min(["/".join(reading) for _, reading in stated].index(path) for path in exact) if exact else 0
        if exact:
            return (min(exact), stated[first][0]) if len(exact) == 1 else (VolumeCode.PATH_AMBIGUOUS.value, None)
    for _, reading in stated:
        similar = [file for file in files if fold(file) == fold("/".join(reading))]
        if similar:
            return (similar[0], PathRule.FOLDED) if len(similar) == 1 else (VolumeCode.PATH_AMBIGUOUS.value, None)
    return guess(parts, base, folder, column, files, load_file)


def guess(
    parts: list[str], base: list[str], folder: list[str], column: list[str], files: Sequence[str], load_file: str
) -> tuple[str, PathRule | None]:
    outside = ".." in column or (column and column[0][1:2] == ":")
    starts = [[*base, *column], [*folder, *column], column] if column and not outside else []
    readings = {PathRule.VOLUME_COLUMN: [[*start, *parts] for start in starts]}
    if starts and [*map(fold, parts[: len(column)])] == [*map(fold, column)] and parts[len(column) :]:
        readings[PathRule.VOLUME_COLUMN].append([*base, *parts[len(column) :]])
    places = [folder, folder[:-1]] if folder and fold(folder[-1]) == "data" else [folder]
    readings[PathRule.FOLDER_BESIDE] = [
        [*in_parts(file)[: len(place) + 1], *parts]
        for place in places
        for file in (*files, load_file)
        if in_parts(file)[: len(place)] == place and len(in_parts(file)) > len(place) + 1
    ]
    for rule, of_rule in readings.items():
        paths = {"/".join(reading) for reading in of_rule}
        found = {file for file in files if file in paths}
        found = found or {file for file in files if fold(file) in {*map(fold, paths)}}
        if found:
            return (min(found), rule) if len(found) == 1 else (VolumeCode.PATH_AMBIGUOUS.value, None)
    return "", None


SEGMENTS = ("a", "A", "b", "VC01", "vc01", "VOL001", "DATA", "é", "e\u0301", "IMAGES")
PATHS = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4).map("/".join)
OPTIONS = st.builds(
    FileOptions,
    strip_prefix=st.sampled_from([None, "D:", "a", ("a", "a\\b"), ("VC01", "D:\\b")]),
    add_prefix=st.sampled_from([None, None, "VC01", "vc01/a", "b\\"]),
)
VOLUMES = st.sampled_from(["", "VC01", "@VC01", "vc01", "a/b", "..", "D:\\a", "a\\..\\b", "\x00", "\ud800"])
LOAD_FILES = st.sampled_from(["x.dat", "DATA/x.dat", "VC01/x.dat", "a/DATA/x.dat", "VOL001/DATA/x.dat"])


@given(PATHS, VOLUMES, st.lists(PATHS, max_size=12, unique=True), LOAD_FILES, OPTIONS, st.data())
def test_a_path_means_what_the_rules_say(
    path: str, volume: str, files: list[str], load_file: str, options: FileOptions, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(["", "D:\\", ".\\", "\\"])) + path.replace("/", "\\")
    top = data.draw(st.sampled_from([None, "VOL001", "a"]))
    found = find(NamedPath(text, volume), files, load_file, options, top)
    column = "" if volume in ("\x00", "\ud800") else volume
    assert found == reference(NamedPath(text, column), files, load_file, options, top)
    assert found[1] is None or found[0] in files


@given(PATHS, VOLUMES, st.lists(PATHS, max_size=9, unique=True), LOAD_FILES, st.randoms(use_true_random=False))
def test_the_order_of_the_files_does_not_matter_and_a_file_at_the_path_is_never_replaced(
    path: str, volume: str, files: list[str], load_file: str, chance: random.Random
) -> None:
    named, options = NamedPath(path, volume), FileOptions()
    assert find(named, chance.sample(files, len(files)), load_file, options) == find(named, files, load_file, options)
    assert find(named, list({*files, path}), "x.dat", options) == (path, PathRule.ROOT)


BESIDE = ["VC01/IMAGES/1.tif", "VC02/IMAGES/1.tif", "VC02/IMAGES/2.tif", "LOAD/x.opt"]


@pytest.mark.parametrize(
    ("text", "volume", "expected"),
    [
        (r"IMAGES\1.tif", "@VC01", ("VC01/IMAGES/1.tif", PathRule.VOLUME_COLUMN)),
        (r"images\1.TIF", "vc02", ("VC02/IMAGES/1.tif", PathRule.VOLUME_COLUMN)),
        (r"IMAGES\2.tif", "VC01", ("VC02/IMAGES/2.tif", PathRule.FOLDER_BESIDE)),
        (r"IMAGES\2.tif", "", ("VC02/IMAGES/2.tif", PathRule.FOLDER_BESIDE)),
        (r"IMAGES\1.tif", "", (VolumeCode.PATH_AMBIGUOUS, None)),
        (r"IMAGES\1.tif", "..", (VolumeCode.PATH_AMBIGUOUS, None)),
        (r"IMAGES\3.tif", "VC01", ("", None)),
        (r"VC01\IMAGES\1.tif", "VC02", ("VC01/IMAGES/1.tif", PathRule.ROOT)),
    ],
)
def test_the_volume_column_comes_before_folders_beside_and_two_files_are_none(
    text: str, volume: str, expected: tuple[str, PathRule | None]
) -> None:
    assert find(NamedPath(text, volume), BESIDE, "x.opt", FileOptions()) == expected


def test_a_folder_that_two_places_have_is_none_of_them() -> None:
    options = FileOptions(add_prefix="VC01")
    for files, expected in ((["a/VC01/1"], "a/VC01/1"), (["VC01/1"], "VC01/1"), (["a/VC01/1", "VC01/1"], "")):
        found = find(NamedPath("1"), files, "a/x.dat", options, "a")
        assert found == ((expected, PathRule.ADDED_PREFIX) if expected else (VolumeCode.PATH_AMBIGUOUS, None))


def test_the_longest_prefix_is_stripped_whatever_their_order() -> None:
    for prefixes in itertools.permutations(["D:", "D:\\export", "\\\\srv\\share"]):
        options = FileOptions(strip_prefix=prefixes)
        assert find(NamedPath("D:\\export\\a"), ["a", "export/a"], "x.dat", options)[0] == "a"
        assert find(NamedPath("D:\\other\\a"), ["a", "other/a"], "x.dat", options)[0] == "other/a"
        assert find(NamedPath("\\\\SRV\\share\\a"), ["a"], "x.dat", options)[0] == "a"


@given(st.lists(st.lists(st.sampled_from("abcdé"), min_size=1, max_size=5).map("/".join), max_size=30), st.randoms())
def test_folders_are_those_of_the_paths_in_any_order(paths: list[str], chance: random.Random) -> None:
    one, other = FolderSurvey(), FolderSurvey()
    for survey, ordered in ((one, paths), (other, chance.sample(paths, len(paths)))):
        for path in ordered:
            survey.add(path)
    for load_file in ("x.dat", "a/x.dat", "a/b/x.dat"):
        place = load_file.rpartition("/")[0]
        before = f"{place}/" if place else ""
        expected = {before + path[len(before) :].split("/")[0] for path in paths if path.startswith(before)}
        expected = {folder for folder in expected if any(path.startswith(f"{folder}/") for path in paths)}
        assert list_beside(one.select_near([load_file]), load_file) == tuple(sorted(expected))
        assert one.select_near([load_file]) == other.select_near([load_file])


@pytest.mark.parametrize("backwards", [False, True])
def test_of_a_folder_with_too_many_folders_none_is_beside(backwards: bool) -> None:
    paths = [f"V{number}/A/B/1.tif" for number in range(MAX_FOLDERS)]
    for count, expected in ((MAX_FOLDERS, MAX_FOLDERS), (MAX_FOLDERS + 1, 0)):
        survey = FolderSurvey()
        every = [*paths, "V/A/B/1.tif"][:count]
        for path in reversed(every) if backwards else every:
            survey.add(path)
        assert len(list_beside(survey.select_near(["x.dat"]), "x.dat")) == expected
        assert bool(survey.select_near(["V1/x.dat"]).get("V1")) == bool(expected)


@given(PATHS, PATHS, PATHS)
def test_the_options_that_are_named_find_the_file(before: str, shared: str, above: str) -> None:
    text, path = f"{before}\\{shared}".replace("/", "\\"), f"{above}/{shared}"
    strip, add = find_repair(text, path)
    options = FileOptions(strip_prefix=strip or None, add_prefix=add or None)
    assert find(NamedPath(text), [path], "zz.dat", options)[0] == path


@pytest.mark.parametrize(
    ("text", "path", "repair"),
    [
        (r"NATIVES\1.doc", "VOL001/NATIVES/1.doc", ("", "VOL001")),
        (r"OLD\NATIVES\1.doc", "natives/1.doc", ("OLD", "")),
        (r"D:\x\NATIVES\1.doc", "V/NATIVES/1.doc", (r"D:\x", "V")),
        (r"\\srv\share\NATIVES\1.doc", "NATIVES/1.doc", (r"\\srv\share", "")),
    ],
)
def test_what_to_strip_and_to_add(text: str, path: str, repair: tuple[str, str]) -> None:
    assert find_repair(text, path) == repair


def test_the_file_of_the_name_that_is_most_like_the_path_is_named() -> None:
    paths = ["C/1.doc", "A/B/1.doc", "D/B/1.doc"]
    assert choose_elsewhere(split_path("X/B/1.doc"), paths) == Elsewhere("A/B/1.doc", 2)
    assert choose_elsewhere(split_path("X/1.doc"), []) is None


@pytest.mark.parametrize(("found", "is_advice"), [(0, True), (1, True), (2, False)])
def test_options_that_find_fewer_files_than_were_found_are_no_advice(found: int, *, is_advice: bool) -> None:
    tally = PathTally()
    for line in range(found):
        tally.add("native", line, "NATIVES/a.eml", Resolved(File("NATIVES/a.eml"), PathRule.ROOT))
    tally.add("native", found, "NATIVES/b.txt", Elsewhere("TEXT/b.txt"))
    assert (tally.kinds["native"].find_main_repair() is not None) is is_advice


Found = Resolved[File] | PathError | Elsewhere | None
FOUND = st.sampled_from(
    [
        None,
        Resolved(File("V/a"), PathRule.ROOT),
        Resolved(File("V/é"), PathRule.FOLDER_BESIDE),
        PathError(VolumeCode.PATH_REFUSED, "", Elsewhere("V/a")),
        PathError(VolumeCode.PATH_AMBIGUOUS, ""),
        Elsewhere("V/x/a"),
        Elsewhere("W/a", 3),
    ]
)


@given(st.lists(st.tuples(st.sampled_from(["native", "image"]), PATHS, FOUND), max_size=20), st.randoms(), st.data())
def test_tallies_of_chunks_are_that_of_the_file(
    rows: list[tuple[str, str, Found]], chance: random.Random, data: st.DataObject
) -> None:
    whole, parts = PathTally(), [PathTally() for _ in range(3)]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), min_size=2, max_size=2)))
    for line_no, (kind, text, found) in enumerate(rows):
        whole.add(kind, line_no, text, found)
        parts[sum(line_no >= cut for cut in cuts)].add(kind, line_no, text, found)
    stored = [document for document in (part.to_json() for part in parts) if document]
    assert unite_all(chance.sample(stored, len(stored))).to_json() == whole.to_json()
    for kind, tally in whole.kinds.items():
        of_kind = [found for of, _, found in rows if of == kind]
        assert tally.missing + sum(count for count, _ in tally.found.values()) == len(of_kind)
