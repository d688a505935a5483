"""Imports of an LFP whose boundary commands decide which pages a document has."""

from __future__ import annotations

import pytest

from core.image_load_file.limits import Limits
from core.image_load_file.splitter import ImageSplitter
from shell.imports.commands import retry_import
from shell.imports.splitting import image_split
from tests.integration.imports.images.image_imports import deliver_requests
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World, complete_imports
from tests.support.imports.image_load_files import found, page_counts, pages, results

KEYS = [f"P-{number}" for number in range(1, 8)]
DAT = b"Control Number\r\nP-1\r\nP-3\r\nP-6\r\n"
EXPECTED = {"P-1": 2, "P-3": 3, "P-6": 2}
FLAGS = ["BF,P-3,D", "BF,P-6,D"]


def im(key: str, flag: str = "") -> str:
    return f"IM,{key},{flag},0,@VOL;IMG;{key}.TIF;2,0"


def lfp(flags: str, *commands: str) -> bytes:
    """A page for each key; the flags are separated by commas."""
    lines = [im(key, flag) for key, flag in zip(KEYS, flags.split(","), strict=True)]
    return "\r\n".join([*lines, *commands, ""]).encode()


FILE = lfp("D,,,,,,", *FLAGS)


def use_limits(monkeypatch: pytest.MonkeyPatch, limits: Limits) -> None:
    monkeypatch.setattr(
        image_split, "ImageSplitter", lambda kind, encoding, mark: ImageSplitter(kind, encoding, mark, limits)
    )


@pytest.mark.parametrize(
    "data",
    [
        FILE,
        lfp("D,D,D,,,D,", "BF,P-2,"),
        lfp("D,,,,,,", "BR,P-1,P-2,D", "BR,P-3,P-5,D", "BR,P-6,P-7,D"),
        lfp(",,,,,,", "BM,P-1,F", "BM,P-3,D", "BM,P-6,C"),
        "\r\n".join(["BF,P-3,D", "BF,P-6,D", *lfp("D,,,,,,").decode().split("\r\n")]).encode(),
    ],
)
@pytest.mark.parametrize("size", [1, 1_000])
def test_documents_have_the_pages_that_the_commands_give_them(
    world: World, data: bytes, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_limits(monkeypatch, Limits(chunk_documents=size))
    world.run(DAT)
    import_id = world.run(data, name="images.lfp", shuffle=3)
    assert results(world, import_id) == ("completed", 3, 3, 0, 0, 0)
    assert page_counts(world) == EXPECTED
    assert [row[2] for row in pages(world)] == KEYS
    assert found(world, "import_warnings") == []


def test_other_commands_are_counted(world: World) -> None:
    world.run(DAT)
    world.run(FILE + b"FT,P-1,1,1\r\nIO,P-1,1,x\r\nFT,P-2,1,1\r\n", name="images.lfp")
    messages = world.query("SELECT message FROM import_warnings WHERE code = 'LFP_COMMAND_IGNORED' ORDER BY seq")
    assert [str(message)[:24] for (message,) in messages] == ["The command FT is not re", "The command IO is not re"]
    assert page_counts(world) == EXPECTED


def test_a_check_and_the_import_of_it_find_the_same_documents(world: World) -> None:
    world.run(DAT)
    checked = world.run(FILE, name="images.lfp", dry_run=True)
    assert results(world, checked)[:2] == ("checked", 3)
    assert page_counts(world) == {}
    world.run(FILE, name="images.lfp")
    assert page_counts(world) == EXPECTED
    refused = lfp("D,,,,,,", "BF,P-3,D", "BF,P-9,D")
    for is_check in (True, False):
        import_id = world.run(refused, name="images.lfp", dry_run=is_check)
        row = world.query("SELECT status, failure_code, failure_message FROM imports WHERE id = :i", i=import_id)[0]
        assert (row.status, row.failure_code) == ("failed", "LFP_BOUNDARIES")
        assert "Line 9: BF names the page P-9, which the file does not have." in row.failure_message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_the_error_file_alone_gives_the_documents_the_same_pages(world: World, encoding: str) -> None:
    data = lfp("D,F,,,,,", "BF,P-2,", "BR,P-3,P-5,D", "BF,P-6,F", "FT,P-1,é").decode("utf-8").encode(encoding)
    import_id = world.run(data, name="images.lfp")
    assert found(world) == [(line, "OPT_DOC_NOT_FOUND", key) for line, key in ((1, "P-1"), (3, "P-3"), (6, "P-6"))]
    corrected = world.report(import_id)["rejected_rows.lfp"]
    flags = [line.split(",")[2] for line in corrected.decode("utf-8-sig").splitlines()]
    assert flags == ["D", "", "D", "", "", "F", ""]
    world.run(DAT)
    assert results(world, world.run(corrected, name="again.lfp")) == ("completed", 3, 3, 0, 0, 0)
    assert page_counts(world) == EXPECTED


def test_a_range_that_is_rejected_has_its_flags_in_the_error_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_limits(monkeypatch, Limits(document_pages=2))
    world.run(DAT)
    import_id = world.run(lfp(",,,,,,", "BF,P-2,D", "BF,P-3,D", "BF,P-6,D"), name="images.lfp")
    assert found(world) == [
        (1, "OPT_NO_DOC_BREAK", "P-1"),
        (2, "OPT_DOC_NOT_FOUND", "P-2"),
        (3, "RECORD_TOO_LARGE", "P-3"),
    ]
    flags = [line.split(",")[2] for line in world.report(import_id)["rejected_rows.lfp"].decode().splitlines()]
    assert flags == ["", "D", "D", "", ""]


def test_a_failed_chunk_is_retried_with_its_boundaries(world: World) -> None:
    world.run(DAT)
    import_id = world.start(FILE, name="images.lfp")
    [message] = world.chunk_messages()
    world.give_up(message)
    complete_imports()
    assert results(world, import_id)[0] == "completed_with_rejections"
    flags = [line.split(",")[2] for line in world.report(import_id)["rejected_rows.lfp"].decode().splitlines()]
    assert flags == ["D", "", "D", "", "", "D", ""]
    committed(retry_import, CALLER, import_id)
    deliver_requests(world)
    complete_imports()
    assert results(world, import_id)[0] == "completed"
    assert page_counts(world) == EXPECTED


def test_a_chunk_without_its_boundaries_is_not_read(world: World) -> None:
    world.run(DAT)
    import_id = world.start(FILE, name="images.lfp")
    [message] = world.chunk_messages()
    world.query("UPDATE import_chunks SET boundaries = NULL WHERE import_id = :i", i=import_id)
    assert not world.import_chunk(message)
    assert page_counts(world) == {}


def test_images_again_are_unchanged_whatever_says_where_documents_begin(world: World) -> None:
    world.run(DAT)
    world.run(FILE, name="images.lfp")
    order = FILE.decode().splitlines()
    for data in (lfp("D,,D,,,D,"), "\n".join([*order[-2:], *order[:-2]]).encode()):
        assert results(world, world.run(data, name="images.lfp")) == ("completed", 3, 0, 0, 3, 0)
