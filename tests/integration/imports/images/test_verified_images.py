"""The option `verify_images`: images are opened, and their pages counted once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import StorageUnavailableError
from shell.imports.queries import get_import
from shell.utils.page_counts import count_pages
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import World
from tests.support.faults.step_hooks import at_every_step
from tests.support.imports.image_load_files import counted, found, page_counts
from tests.support.volumes.stored_files import pdf, tiff
from tests.support.volumes.volume_imports import import_volume, put_volume, start_volume_import

DAT = b"Control Number\r\nA-1\r\nA-2\r\nA-3\r\nA-4\r\n"
OPT_PATH = "DATA/images.opt"
# two files; A-2: one file with more pages than its line says; A-3: as many; A-4: one of two is damaged.
OPT = (
    b"A-1,V,IMAGES\\1.tif,Y,,,2\r\nA-1.2,V,IMAGES\\2.tif,,,,\r\nA-2,V,IMAGES\\3.tif,Y,,,\r\n"
    b"A-3,V,IMAGES\\4.pdf,Y,,,3\r\nA-4,V,IMAGES\\5.tif,Y,,,2\r\nA-4.2,V,IMAGES\\6.pdf,,,,\r\n"
)
FILES = {
    "IMAGES/1.tif": tiff(),
    "IMAGES/2.tif": tiff(),
    "IMAGES/3.tif": tiff(2),
    "IMAGES/4.pdf": pdf(3),
    "IMAGES/5.tif": tiff(),
    "IMAGES/6.pdf": pdf(1)[:-100],
    OPT_PATH: OPT,
}
WARNINGS = [(3, "OPT_PAGE_COUNT", "A-2"), (6, "IMAGE_UNREADABLE", "A-4")]


def stored(world: World) -> list[int | None]:
    """The counts that are stored, by path."""
    return [
        row[0] for row in world.query("SELECT page_count FROM volume_files WHERE path <> :p ORDER BY 1", p=OPT_PATH)
    ]


def test_images_that_are_damaged_or_have_other_pages_are_warnings(world: World) -> None:
    world.run(DAT)
    import_id = import_volume(world, put_volume(world, FILES), OPT_PATH, verify_images=True)
    assert found(world, "import_warnings") == WARNINGS
    assert page_counts(world) == {"A-1": 2, "A-2": 1, "A-3": 3, "A-4": 2}
    pages = get_import(CALLER, import_id).pages
    assert pages is not None
    assert (pages.declared, pages.listed, pages.in_files, pages.unreadable_images) == (7, 8, 8, 1)
    assert stored(world) == [None, 1, 1, 1, 2, 3]


def test_without_the_option_no_image_is_opened(world: World) -> None:
    world.run(DAT)
    import_id = import_volume(world, put_volume(world, FILES), OPT_PATH)
    assert found(world, "import_warnings") == []
    assert stored(world) == [None] * 6
    assert "in_files" not in counted(world, import_id)


def test_a_check_opens_them_too_and_the_import_counts_only_what_could_not_be_counted(
    world: World, counting: list[int]
) -> None:
    world.run(DAT)
    volume = put_volume(world, FILES)
    import_volume(world, volume, OPT_PATH, verify_images=True, dry_run=True)
    assert found(world, "import_check_findings") == WARNINGS
    assert len(counting) == 6
    counting.clear()
    import_volume(world, volume, OPT_PATH, verify_images=True)
    assert found(world, "import_warnings") == WARNINGS
    assert counting == [len(FILES["IMAGES/6.pdf"])]


def test_an_outage_is_no_warning_and_what_was_counted_is_kept(
    world: World, counting: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(DAT)
    import_id = start_volume_import(world, put_volume(world, FILES), OPT_PATH, verify_images=True)
    [chunk] = world.chunk_messages()

    def fail(read: Callable[[int, int], bytes], size: int) -> int:
        if size == len(FILES["IMAGES/4.pdf"]):
            raise StorageUnavailableError
        return count_pages(read, size)

    with monkeypatch.context() as patched:
        patched.setattr("shell.imports.images.image_pages.count_pages", fail)
        assert not world.import_chunk(chunk)
    assert found(world, "import_warnings") == []
    assert stored(world)[-3:] == [1, 1, 2]
    assert world.import_chunk(chunk)
    assert found(world, "import_warnings") == WARNINGS
    assert len(counting) < 6
    assert counted(world, import_id)["in_files"] == 8


def test_statements_do_not_grow_with_the_images(world: World) -> None:
    counts = []
    for number in (2, 40):
        keys = [f"{number}-{n}" for n in range(number)]
        world.run("\r\n".join(["Control Number", *keys, ""]).encode())
        lines = "".join(f"{key},V,IMAGES\\{key}.tif,Y,,,1\r\n" for key in keys).encode()
        files = {f"IMAGES/{key}.tif": tiff() for key in keys}
        start_volume_import(world, put_volume(world, {**files, OPT_PATH: lines}), OPT_PATH, verify_images=True)
        [chunk] = world.chunk_messages()
        with at_every_step(world) as steps:
            assert world.import_chunk(chunk)
        counts.append(steps.count)
    assert counts[0] == counts[1]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the files whose pages are counted."""
    sizes: list[int] = []

    def count(read: Callable[[int, int], bytes], size: int) -> int:
        sizes.append(size)
        return count_pages(read, size)

    monkeypatch.setattr("shell.imports.images.image_pages.count_pages", count)
    return sizes
