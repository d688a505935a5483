"""A folder that holds several volumes, or none, is distinguished from a volume."""

from __future__ import annotations

import random

import pytest

from core.codes import VolumeFailure
from core.volumes.archives import is_archive_name
from core.volumes.discovery import discover_files
from core.volumes.errors import VolumeRefusedError
from core.volumes.paths import PathRule
from exhibit_ingest.volumes.path_lines import RULES
from exhibit_ingest.volumes.volume_folders import (
    VolumeFolders,
    explain_missing_load_file,
    find_volume_folders,
    list_top_archives,
)

FOLDERS = ("", "DATA/", "data/", "VOL001/", "VOL001/DATA/", "NATIVES/", "x/y/", "x/y/DATA/")
NAMES = ("a.dat", "a.CSV", "a.txt", "MANIFEST.csv", "a.opt", "a.LFP", "1.pdf", "dat", ".dat", "a.zip", "b.tar.gz")


@pytest.mark.parametrize(
    ("paths", "volumes", "others"),
    [
        ("VOL001/DATA/a.dat VOL001/IMAGES/1.tif VOL002/DATA/b.dat VOL002/N/1.pdf", "VOL001 VOL002", ""),
        ("VOL2/a.dat VOL10/b.csv VOL1/c.opt", "VOL1 VOL2 VOL10", ""),
        ("VOL001.zip VOL002.ZIP", "VOL001.zip VOL002.ZIP", ""),
        ("VOL001/x/DATA/a.dat VOL002.zip readme.txt", "VOL001 VOL002.zip", "readme.txt"),
        ("VOL001/DATA/a.dat VOL002/DATA/b.dat cover/letter.pdf manifest.csv", "VOL001 VOL002", "cover manifest.csv"),
        ("VOL001/DATA/a.dat VOL002/DATA/b.dat VOL003/1.pdf", "VOL001 VOL002", "VOL003"),
        # One volume: a load file in the root or in DATA/, a folder of a part, or a single top folder.
        ("a.dat VOL001/b.dat VOL002/c.dat", "", ""),
        ("DATA/a.opt VOL001/b.dat VOL002/c.dat", "", ""),
        ("IMAGES/1.tif VOL001/b.dat VOL002/c.dat", "", ""),
        ("VOL001/DATA/a.dat VOL001/VOL001.opt", "", ""),
        ("VOL001/DATA/a.dat readme.txt", "", ""),
        ("VOL001/x/y/a.dat VOL002/x/y/b.dat", "", ""),
        ("VOL001/notes.txt VOL002/notes.txt", "", ""),
        ("", "", ""),
    ],
)
def test_volumes_are_the_folders_and_zips_with_load_files(paths: str, volumes: str, others: str) -> None:
    files = paths.split()
    random.Random(paths).shuffle(files)
    assert find_volume_folders(files) == VolumeFolders(volumes.split(), others.split())


def has_load_file(paths: list[str]) -> bool:
    """Whether the server finds a load file, or several to choose from."""
    try:
        discover_files([(path, 1) for path in paths])
    except VolumeRefusedError as refused:
        return refused.code is not VolumeFailure.NO_LOAD_FILE
    return True


def test_a_folder_is_refused_before_it_is_sent_only_if_the_server_refuses_it() -> None:
    chance, refused = random.Random(7), 0
    for _ in range(2_000):
        paths = sorted({chance.choice(FOLDERS) + chance.choice(NAMES) for _ in range(chance.randint(1, 3))})
        if explain_missing_load_file(paths):
            refused += 1
            assert not has_load_file(paths), paths
    assert refused > 200


def test_archives_are_those_of_the_server() -> None:
    assert list_top_archives(NAMES) == sorted(filter(is_archive_name, NAMES)) == ["a.zip", "b.tar.gz"]


def test_every_rule_of_paths_has_words() -> None:
    assert RULES.keys() == {rule.value for rule in PathRule}
