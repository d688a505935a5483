"""Load files of a volume: one is found where volumes have it, and what is not clear is listed, never guessed."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import VolumeFailure
from core.volumes.discovery import MAX_IMAGE_LOAD_FILES, MAX_LISTED, DiscoveredFiles, discover_files
from core.volumes.errors import VolumeRefusedError

NATIVES = ("NATIVES/0001/A1.csv", "TEXT/0001/A1.txt", "IMAGES/0001/A1.tif")


def discover(*paths: str, load_file: str | None = None, image_load_file: str | None = None) -> DiscoveredFiles:
    return discover_files([(path, 1_234) for path in paths], load_file=load_file, image_load_file=image_load_file)


def refuse(*paths: str, load_file: str | None = None, image_load_file: str | None = None) -> tuple[str, str]:
    with pytest.raises(VolumeRefusedError) as refused:
        discover(*paths, load_file=load_file, image_load_file=image_load_file)
    return refused.value.code, str(refused.value)


FOUND = [
    (("DATA/v.dat", "DATA/v.opt", *NATIVES), ("DATA/v.dat", "DATA/v.opt", None)),
    (("data/V.DAT", "Data/V.LFP", *NATIVES), ("data/V.DAT", "Data/V.LFP", None)),
    (("v.csv", *NATIVES), ("v.csv", None, None)),
    (("v.txt", *NATIVES), ("v.txt", None, None)),
    (("v.dat", "readme.txt", "DATA/log.txt", *NATIVES), ("v.dat", None, None)),
    (("v.dat", "NATIVES/A1.csv", "NATIVES/A1.dat"), ("v.dat", None, None)),
    (("v.dat", "DATA/v.opt"), ("v.dat", "DATA/v.opt", None)),
    (("DATA/v.dat",), ("DATA/v.dat", None, None)),
    (("VOL001/DATA/v.dat", "VOL001/v.opt"), ("VOL001/DATA/v.dat", "VOL001/v.opt", "VOL001")),
    (("VOL001/v.dat", *(f"VOL001/{path}" for path in NATIVES)), ("VOL001/v.dat", None, "VOL001")),
    (("VOL001/DATA/v.txt", "VOL001/NATIVES/A1.csv"), ("VOL001/DATA/v.txt", None, "VOL001")),
    (("VOL001/DATA/v.txt", "VOL001/v.csv"), ("VOL001/v.csv", None, "VOL001")),
    (("Manifest.csv", "DATA/v.csv", *NATIVES), ("DATA/v.csv", None, None)),
    (("VOL001/DATA/v.dat", "VOL001/MANIFEST.csv"), ("VOL001/DATA/v.dat", None, "VOL001")),
    (("MANIFEST.csv", *NATIVES), ("MANIFEST.csv", None, None)),
    (("VOL001/DATA/v.dat", "VOL001/A1.pdf", "letter.pdf"), ("VOL001/DATA/v.dat", None, "VOL001")),
    (("VOL001/DATA/v.dat", "__MACOSX/VOL001/DATA/._v.dat", ".DS_Store"), ("VOL001/DATA/v.dat", None, "VOL001")),
    (("VOL001/DATA/v.dat", "VOL001/DATA/._v.dat", "VOL001/Thumbs.db"), ("VOL001/DATA/v.dat", None, "VOL001")),
    (("v.dat", "VOL001/NATIVES/A1.csv", "VOL001/A2.csv"), ("v.dat", None, None)),
]


@pytest.mark.parametrize(("paths", "found"), FOUND)
def test_the_load_files_are_found_where_volumes_have_them(
    paths: tuple[str, ...], found: tuple[str | None, ...]
) -> None:
    assert discover(*paths) == (*found, [])


SEVERAL = [
    (("a.dat", "b.dat"), ("a.dat", "b.dat"), "loadFile"),
    (("a.dat", "DATA/a.csv"), ("a.dat", "DATA/a.csv"), "loadFile"),
    (("a.txt", "DATA/b.txt"), ("a.txt", "DATA/b.txt"), "loadFile"),
    (("readme.txt", "VOL001/DATA/v.dat", "VOL001/x"), ("readme.txt", "VOL001/DATA/v.dat"), "loadFile"),
    (("VOL001/v.dat", "VOL001/DATA/v.dat"), ("VOL001/v.dat", "VOL001/DATA/v.dat"), "loadFile"),
    (("v.dat", "v.opt", "v.lfp"), ("v.lfp", "v.opt"), "imageLoadFile"),
    (("VOL001/v.dat", "VOL001/DATA/v.OPT", "VOL001/v.LFP"), ("VOL001/DATA/v.OPT", "VOL001/v.LFP"), "imageLoadFile"),
]


@pytest.mark.parametrize(("paths", "listed", "option"), SEVERAL)
def test_several_load_files_are_listed(paths: tuple[str, ...], listed: tuple[str, ...], option: str) -> None:
    code, message = refuse(*paths)
    assert code == VolumeFailure.SEVERAL_LOAD_FILES
    assert all(f"{path} (1,234 bytes)" in message for path in listed)
    assert message.endswith(f"Set {option} to the path of one.")


@pytest.mark.parametrize(
    ("paths", "listed"),
    [
        ((), ""),
        (("NATIVES/A1.csv", "NATIVES/A1.txt"), "NATIVES/A1.csv"),
        (("VOL001/DATA/a.dat", "VOL002/DATA/b.dat"), "VOL001/DATA/a.dat (1,234 bytes), VOL002/DATA/b.dat"),
        (("LOAD FILES/V/v.dat", "v.pdf"), "LOAD FILES/V/v.dat"),
        (("LOAD FILES/v.dat", "1.pdf", "2.pdf"), "LOAD FILES/v.dat"),
        (("DATA/v.opt", "v.xlsx"), "DATA/v.opt"),
        ((".dat", "dat"), ""),
    ],
)
def test_no_load_file_is_said_with_what_is_elsewhere(paths: tuple[str, ...], listed: str) -> None:
    code, message = refuse(*paths)
    assert code == VolumeFailure.NO_LOAD_FILE
    assert listed in message
    assert "Set loadFile" in message


def test_what_the_caller_chose_is_taken_in_any_case_and_from_anywhere() -> None:
    paths = ("a.dat", "b.dat", "LOAD/Ü.dat", "v.opt", "v.lfp")
    assert discover(*paths, load_file="b.dat", image_load_file="v.lfp")[:3] == ("b.dat", "v.lfp", None)
    assert discover(*paths, load_file=r".\load\U" + "\u0308.DAT", image_load_file="V.OPT")[:2] == (
        "LOAD/Ü.dat",
        "v.opt",
    )
    assert discover("A.dat", "a.dat", load_file="a.dat")[:3] == ("a.dat", None, None)
    assert discover("V/LOAD/v.dat", "V/x", load_file="V/LOAD/v.dat")[:3] == ("V/LOAD/v.dat", None, "V")


def test_a_choice_that_is_not_there_or_is_not_clear_is_refused() -> None:
    assert refuse("a.dat", load_file="b.dat")[0] == VolumeFailure.NO_LOAD_FILE
    assert refuse("a.dat", image_load_file="b.opt")[0] == VolumeFailure.NO_LOAD_FILE
    assert refuse("A.dat", "a.dat", load_file="A.DAT")[0] == VolumeFailure.SEVERAL_LOAD_FILES


def test_an_image_load_file_stands_alone_only_by_choice() -> None:
    assert refuse("v.opt", "x/y")[0] == VolumeFailure.NO_LOAD_FILE
    assert discover("v.opt", "x/y", image_load_file="v.opt")[:3] == (None, "v.opt", None)


def test_a_message_lists_twenty_and_counts_the_others() -> None:
    paths = [f"{number:03d}.dat" for number in range(100)]
    random.Random(1).shuffle(paths)
    _, message = refuse(*paths)
    assert message.count("bytes)") == MAX_LISTED
    assert "000.dat" in message
    assert "019.dat (1,234 bytes) and 80 more." in message


PATHS = st.lists(
    st.sampled_from(["a.dat", "b.csv", "c.txt", "d.opt", "e.lfp", "f.tif", "DATA", "V", "W", "__MACOSX", ".DS_Store"]),
    min_size=1,
    max_size=4,
).map("/".join)


@given(st.lists(PATHS, max_size=8, unique=True), st.randoms(use_true_random=False))
def test_the_order_of_the_files_makes_no_difference(paths: list[str], chance: random.Random) -> None:
    def result(order: list[str]) -> object:
        try:
            return discover(*order)
        except VolumeRefusedError as refused:
            return refused.code, str(refused)

    assert result(paths) == result(chance.sample(paths, len(paths)))


@pytest.mark.parametrize("extension", ["opt", "lfp"])
def test_all_image_load_files_of_one_format_are_found_in_the_order_of_their_paths(extension: str) -> None:
    names = [f"DATA/{letter}.{extension}" for letter in "dbca"]
    found = discover("v.dat", f"z.{extension.upper()}", *names, f"IMAGES/x.{extension}")
    assert found.list_image_load_files() == [*sorted(names), f"z.{extension.upper()}"]
    assert found.list_paths() == ["v.dat", *found.list_image_load_files()]
    assert DiscoveredFiles(**json.loads(json.dumps(found.build_document()))) == found
    one = discover("v.dat", *names, image_load_file=names[0])
    assert one.list_image_load_files() == [names[0]]


def test_one_image_load_file_is_stored_as_earlier_versions_read_it() -> None:
    document = discover("v.dat", "v.opt").build_document()
    assert document == {"load_file": "v.dat", "image_load_file": "v.opt", "top_folder": None}


def test_two_formats_and_too_many_image_load_files_are_refused_with_what_to_do() -> None:
    assert "import the volume with one and then, with the mode append_overlay" in refuse("v.dat", "v.opt", "v.lfp")[1]
    most = [f"DATA/{number}.opt" for number in range(MAX_IMAGE_LOAD_FILES)]
    assert len(discover("v.dat", *most).list_image_load_files()) == MAX_IMAGE_LOAD_FILES
    code, message = refuse("v.dat", *most, "DATA/more.opt")
    assert (code, "has 101 image load files" in message) == (VolumeFailure.SEVERAL_LOAD_FILES, True)
    assert "join those of one format. Set imageLoadFile" in message
