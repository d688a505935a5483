"""What the model and the replay of volumes say of files and histories that are put before them."""

from __future__ import annotations

import random
import zipfile
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.torture.findings import DOUBLED, LOST, MISPLACED
from tests.torture.models.fold import PAGES
from tests.torture.models.overlay_rows import Report
from tests.torture.models.stored_documents import Entry, Stored
from tests.torture.models.stored_volumes import SentVolume, VolumeCourse, VolumeRun, VolumeUndo
from tests.torture.models.volume_files import Link, judge_images, judge_rows
from tests.torture.models.volume_history import CaseReplay
from tests.torture.oracles.volume_files import _judge_objects
from tests.torture.plans.volumes import (
    IGNORED,
    IMAGES,
    OWN_ROWS,
    ROWS,
    Document,
    FilePath,
    Page,
    Row,
    VolumeCasePlan,
    VolumePlan,
    draw_volume_cases,
)

NATIVE = FilePath("VOL001\\NATIVES\\1.txt", "NATIVES/1.txt", 4)
LACKED = FilePath("TEXT\\1.txt", "TEXT/1.txt", 3)
TWO_FILES = Document("A-1", (Page("A-1", "IMAGES/1.tif", 0), Page("A-1.1", "IMAGES/2.tif", 0)), 3)
ONE_FILE = Document("A-2", (Page("A-2", "IMAGES/3.tif", 1), Page("A-2", "IMAGES/3.tif", 2)), 2)
UNKNOWN = Document("A-9", (Page("A-9", "IMAGES/4.tif", 0),), None)
CONTENTS = {"NATIVES/1.txt": b"native", "IMAGES/1.tif": b"", "IMAGES/3.tif": b"image", "IMAGES/4.tif": b"image"}
PLAN = VolumePlan(
    "VOL001",
    False,
    False,
    (Row("A-1", NATIVE, LACKED), Row("A-2"), Row(""), Row("A-1")),
    (TWO_FILES, ONE_FILE, UNKNOWN, ONE_FILE),
    CONTENTS,
)


def test_rows_are_linked_warned_of_and_rejected() -> None:
    outcome = judge_rows(PLAN, {"A-2"})
    assert (outcome.created, outcome.unchanged) == ({2: "A-1"}, {3: "A-2"})
    assert outcome.rejected == [Report(4, "MISSING_ID"), Report(5, "DUPLICATE_ID")]
    assert outcome.warned == [Report(2, "TEXT_MISSING")]
    assert outcome.links == {2: [Link("native", "NATIVES/1.txt", 4)], 3: []}
    rejecting = judge_rows(replace(PLAN, rejects_missing=True), set())
    assert (rejecting.created, rejecting.rejected[0]) == ({3: "A-2"}, Report(2, "TEXT_MISSING"))


def test_documents_of_images_get_pages_are_warned_of_and_rejected() -> None:
    outcome = judge_images(PLAN, {"A-1", "A-2"})
    assert outcome.targets == {1: TWO_FILES, 3: ONE_FILE}
    assert outcome.rejected == [Report(4, "OPT_DOC_NOT_FOUND"), Report(5, "OPT_DUPLICATE_KEY")]
    warned = [Report(1, "OPT_PAGE_COUNT"), Report(1, "FILE_EMPTY"), Report(2, "IMAGE_MISSING")]
    assert outcome.warned == {1: warned, 3: []}
    assert (outcome.lines, outcome.lines_rejected) == (5, 2)
    ipro = judge_images(replace(PLAN, is_lfp=True), {"A-1", "A-2"})
    assert (list(ipro.targets), ipro.lines) == ([1, 3], 7)


def test_a_zip_has_the_files_that_a_folder_has() -> None:
    plan = replace(PLAN, contents={**CONTENTS, IGNORED: b"system"})
    with zipfile.ZipFile(BytesIO(plan.archive)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == plan.sent
    assert plan.sent.keys() - plan.files.keys() == {IGNORED}


def _entry(version: int, import_id: int, old: str | None, new: str | None, undo_no: int | None = None) -> Entry:
    action, line = ("undone", None) if undo_no else ("overlaid", 1)
    return Entry(version, action, import_id, line, undo_no, {PAGES: (old, new)})


def _replay(*entries: Entry, undone: int = 0, pages: int | None = None) -> list[str]:
    """The kinds of what is found where import 1 creates A-1 and imports 2 and 3 give it pages at once."""
    one = replace(PLAN, rows=(Row("A-1"),), documents=(TWO_FILES,))
    others = [replace(one, name=name, rows=(), mode="overlay") for name in ("VOL100", "VOL101")]
    course = VolumeCourse(VolumeCasePlan("Case", one))
    created = VolumeRun(SentVolume(replace(one, documents=()), 1, ""), False, {ROWS: 1, IMAGES: 9})
    at_once = [VolumeRun(SentVolume(each, 2, ""), False, {IMAGES: 2 + place}) for place, each in enumerate(others)]
    stored = Stored(7, "A-1", 1, 2, 9, {PAGES: pages}, list(entries))
    course.steps = [[created], at_once]
    if undone:
        course.steps.append(VolumeUndo(undone, 1, {7: stored}))
    return [each.kind for each in CaseReplay(course, {7: stored}).run()]


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 2)])
def test_of_two_imports_at_once_either_one_may_be_first(first: int, second: int) -> None:
    both = (_entry(2, first, None, "70"), _entry(3, second, "70", "71"))
    assert _replay(*both, pages=71) == []
    taken_back = _entry(4, second, "71", "70", undo_no=1)
    assert _replay(*both, taken_back, undone=second, pages=70) == []
    # The later pages are kept.
    assert _replay(*both, undone=first, pages=71) == []


def test_pages_that_replace_others_than_there_were_are_lost() -> None:
    assert _replay(_entry(2, 2, None, "70"), _entry(3, 3, None, "71")) == [LOST]


def test_pages_that_are_given_twice_or_not_at_all_are_found() -> None:
    twice = [_entry(2, 2, None, "70"), _entry(3, 3, "70", "71"), _entry(4, 3, "71", "72")]
    assert _replay(*twice) == [DOUBLED]
    assert _replay(_entry(2, 2, None, "70")) == [LOST]


def test_an_undo_that_brings_back_other_pages_or_none_is_found() -> None:
    both = (_entry(2, 2, None, "70"), _entry(3, 3, "70", "71"))
    assert _replay(*both, _entry(4, 3, "71", None, undo_no=1), undone=3) == [MISPLACED]
    assert _replay(*both, undone=3) == [LOST]


def test_a_second_version_of_an_object_is_doubled_and_other_bytes_are_misplaced() -> None:
    sent = SentVolume(replace(PLAN, is_zip=True), 1, "volumes/")
    rows = [
        SimpleNamespace(path=path, size=len(data), sha256=None, version_id="1", file_no=number)
        for number, (path, data) in enumerate(sent.plan.files.items())
    ]
    versions = [{"Key": f"volumes/{path}", "VersionId": "1", "Size": 1} for path in sent.plan.files]
    bodies = {f"volumes/{path}": data for path, data in sent.plan.sent.items()}
    s3: Any = SimpleNamespace(get_object=lambda Key, **_: {"Body": BytesIO(bodies[Key])})
    at: Any = SimpleNamespace(query=lambda *_, **__: rows)

    def judge() -> list[tuple[str, str]]:
        found = _judge_objects(sent, cast("Any", versions), at, s3, "bucket")
        return [(each.kind, each.what) for each in found if "hash" not in each.what]

    assert judge() == []
    versions.append({"Key": "volumes/NATIVES/1.txt", "VersionId": "2", "Size": 1})
    assert judge() == [(DOUBLED, "objects of volume 1: NATIVES/1.txt is there 2 times")]
    bodies["volumes/IMAGES/3.tif"] = b"other"
    assert (MISPLACED, "IMAGES/3.tif of volume 1 has other bytes than were sent") in judge()


def test_every_seed_sends_a_folder_and_a_zip_and_some_do_each_thing() -> None:
    plans = [list(draw_volume_cases(random.Random(seed), random.Random(seed))) for seed in range(200)]
    for cases in plans:
        assert {each.volume.is_zip for each in cases} == {True, False}
    cases = [case for both in plans for case in both]
    for name in ("is_early", "is_checked", "is_twice", "is_repeated"):
        assert {getattr(each, name) for each in cases} == {True, False}
    assert {len(each.overlays) for each in cases} == {0, 2}
    assert {each.end for each in cases} == {"stay", "again", "delete"}
    assert {OWN_ROWS in each.undone for each in cases} == {bool(each.undone) for each in cases} == {True, False}
    volumes = [volume for each in cases for volume in (each.volume, *each.overlays)]
    assert {(each.is_zip, each.is_lfp) for each in volumes} == {(a, b) for a in (True, False) for b in (True, False)}
    assert {each.rejects_missing for each in volumes} == {True, False}
    documents = [document for each in volumes for document in each.documents]
    assert {each.is_one_file for each in documents} == {True, False}
    outcomes = [judge_images(each.volume, {row.number for row in each.volume.rows}) for each in cases]
    assert {each.code for outcome in outcomes for each in outcome.rejected} == {
        "IMAGE_MISSING",
        "OPT_DOC_NOT_FOUND",
        "OPT_DUPLICATE_KEY",
    }
