"""Paths of a volume lead below its folder, or are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exhibit_ingest.errors import CommandError
from exhibit_ingest.productions import volume_paths
from exhibit_ingest.productions.volume_paths import Places, resolve_path

_PARTS = st.sampled_from(["", ".", "..", "...", "a", "A.TIF", "..\\x", "C:", "nul.txt", "a\x00", "a\n", "a.", " "])


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "..", "/", "/etc/passwd", "//host/share", "a/../../b", "a/..", "a//b", "a/", "./a"),
        *(
            "..\\b",
            "a\\b",
            "C:\\b",
            "C:b",
            "a:stream",
            "a\0b",
            "a\nb",
            "NUL",
            "nul.txt",
            "DATA/com1.dat",
            "a./b",
            "a /b",
        ),
        "x" * 1025,
    ],
)
def test_a_path_that_may_lead_elsewhere_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(CommandError, match="could lead out"):
        resolve_path(tmp_path, path)


@pytest.mark.parametrize("path", ["MANIFEST.csv", "DATA/VOL001.dat", "IMAGES/0001/A-B_C&D.0001.TIF", "nulls", "é/x"])
def test_a_path_of_a_volume_is_a_place_below_it(tmp_path: Path, path: str) -> None:
    assert resolve_path(tmp_path, path) == tmp_path / path


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "DATA").symlink_to(outside)
    (root / "file").symlink_to(outside / "file")
    for path in ("DATA/VOL001.dat", "file"):
        with pytest.raises(CommandError, match="could lead out"):
            resolve_path(root, path)


@given(parts=st.lists(st.one_of(_PARTS, st.text(max_size=5)), max_size=5))
@example(parts=["a", "..", "..", "b"])
def test_any_path_that_is_accepted_is_below_the_folder(parts: list[str]) -> None:
    root, path = Path("/volume"), "/".join(parts)
    try:
        place = resolve_path(root, path)
    except CommandError:
        return
    assert root in place.parents
    assert ".." not in place.parts


def test_two_files_that_the_disk_takes_for_one_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_paths, "_ignores_case", lambda _: True)
    places = Places(tmp_path)
    assert places.add("NATIVES/\u00c9.docx") == tmp_path / "NATIVES" / "\u00c9.docx"
    for path in ("NATIVES/\u00e9.DOCX", "natives/e\u0301.docx"):
        with pytest.raises(CommandError, match=r"does not tell apart\. Download it to another disk"):
            places.add(path)


def test_a_disk_that_tells_them_apart_has_both(tmp_path: Path) -> None:
    (tmp_path / "VOL001").mkdir()
    places = Places(tmp_path / "VOL001")
    assert places.add("a.tif") != places.add("A.TIF")
    (tmp_path / "vol001").symlink_to(tmp_path / "VOL001")
    assert volume_paths._ignores_case(tmp_path / "VOL001")
