"""A folder that holds several volumes is distinguished from a volume."""

from __future__ import annotations

import random

import pytest

from core.volumes.volume_folders import VolumeFolders, find_volume_folders


@pytest.mark.parametrize(
    ("paths", "volumes", "others"),
    [
        ("VOL001/DATA/a.dat VOL001/IMAGES/1.tif VOL002/DATA/b.dat VOL002/N/1.pdf", "VOL001 VOL002", ""),
        ("VOL2/a.dat VOL10/b.csv VOL1/c.opt", "VOL1 VOL2 VOL10", ""),
        ("VOL001.zip VOL002.ZIP", "VOL001.zip VOL002.ZIP", ""),
        ("VOL001/x/DATA/a.dat VOL002.zip readme.txt", "VOL001 VOL002.zip", "readme.txt"),
        ("VOL001/DATA/a.dat VOL002/DATA/b.dat cover/letter.pdf manifest.csv", "VOL001 VOL002", "cover manifest.csv"),
        ("VOL001/DATA/a.dat VOL002/DATA/b.dat .DS_Store VOL003/1.pdf", "VOL001 VOL002", "VOL003"),
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
