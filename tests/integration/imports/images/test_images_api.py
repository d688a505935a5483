"""What the API says of images: figures of their imports, the pages of an exhibit, the findings of a check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.contracts.pages import ListQuery
from core.errors import InvalidInputError, NotFoundError
from shell.exhibits.pages import count_pages, list_pages
from shell.exhibits.queries import get_exhibit
from shell.imports.queries import get_import
from tests.integration.imports.import_requests import CALLER, STRANGER
from tests.support.application.driver import World
from tests.support.imports.image_load_files import DAT, IMAGES, OPT, found, opt, results
from tests.support.volumes.volume_imports import import_volume, put_volume


def exhibit_id(world: World, number: str) -> int:
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def test_the_figures_of_an_import_are_those_of_its_lines_and_pages(world: World) -> None:
    rows = world.run(DAT)
    import_id = world.run(OPT + opt(("A-9", 2)), name="images.opt")
    pages = get_import(CALLER, import_id).pages
    assert pages is not None
    assert pages.model_dump() == {
        "lines_seen": 6,
        "imported": 6,
        "rejected": 2,
        "documents": 3,
        "missing_images": 0,
        "declared": 6,
        "listed": 6,
        "in_files": None,
        "unreadable_images": None,
        "without_images": None,
    }
    assert get_import(CALLER, rows).pages is None


def test_the_pages_of_an_exhibit_are_listed_in_order(world: World) -> None:
    world.run(DAT)
    volume = put_volume(world, {**IMAGES, "DATA/images.opt": OPT})
    import_id = import_volume(world, volume, "DATA/images.opt")
    exhibit = exhibit_id(world, "A-3")
    assert get_exhibit(CALLER, exhibit).page_count == 3
    first = list_pages(CALLER, exhibit, ListQuery(limit=2))
    assert first.items[1].model_dump() == {
        "page": 2,
        "image_key": "A-3",
        "volume_id": volume,
        "file": "IMAGES/4.pdf",
        "path": None,
        "page_in_file": 2,
        "rotation": 0,
        "import_id": import_id,
    }
    assert [each.page for each in list_pages(CALLER, exhibit, ListQuery(limit=2, after=first.next)).items] == [3]
    with pytest.raises(NotFoundError):
        list_pages(STRANGER, exhibit, ListQuery(limit=2))
    with pytest.raises(InvalidInputError):
        list_pages(CALLER, exhibit, ListQuery(after="no cursor"))


def test_the_pages_of_page_sets_are_counted_for_their_tenant_only(world: World) -> None:
    world.run(DAT)
    world.run(OPT, name="images.opt")
    [(page_set,)] = world.query("SELECT page_set_id FROM exhibits WHERE control_number = 'A-3'")
    assert count_pages(CALLER, [page_set, page_set + 1_000]) == {page_set: 3}
    assert count_pages(replace(CALLER, cases=frozenset({"another"})), [page_set]) == {}
    assert count_pages(STRANGER, [page_set]) == {}


def test_an_exhibit_without_images_has_no_pages(world: World) -> None:
    world.run(DAT)
    exhibit = exhibit_id(world, "A-1")
    assert get_exhibit(CALLER, exhibit).page_count == 0
    assert list_pages(CALLER, exhibit, ListQuery(limit=10)).items == []


def test_a_check_finds_what_an_import_rejects_and_writes_nothing(world: World) -> None:
    world.run(DAT)
    volume = put_volume(world, {"IMAGES/1.tif": b"x", "DATA/images.opt": OPT + opt(("A-9", 1))})
    import_id = import_volume(world, volume, "DATA/images.opt", dry_run=True)
    assert found(world, "import_check_findings") == [
        (2, "IMAGE_MISSING", "A-1"),
        (3, "IMAGE_MISSING", "A-2"),
        (4, "IMAGE_MISSING", "A-3"),
        (5, "OPT_DOC_NOT_FOUND", "A-9"),
    ]
    checked = world.query("SELECT would_import, would_reject FROM import_checks WHERE import_id = :i", i=import_id)
    assert checked == [(3, 1)]
    assert world.query("SELECT (SELECT COUNT(*) FROM page_sets), (SELECT MAX(version) FROM exhibits)") == [(0, 1)]
    pages = get_import(CALLER, import_id).pages
    assert pages is not None
    assert pages.missing_images == 5
    assert results(world, import_id)[0] == "checked"
