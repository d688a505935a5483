"""Images under a second number of their documents are compared with the range that begins with it."""

from __future__ import annotations

import pytest

from tests.integration.imports.volumes.test_page_reconciliation import found, reconciled
from tests.support.application.driver import World
from tests.support.volumes.paired_imports import DAT_PATH, OPT_PATH, announce, finish

HEADER = b"Control Number,BEGBATES,ENDBATES,PRODBEG,PRODEND,PAGECOUNT\r\n"
DATA = HEADER + b"C1,SM001,SM003,PG001,PG003,3\r\nC2,SM004,SM005,PG004,PG005,2\r\nC3,SM006,SM006,PG006,PG006,1\r\n"
IMAGES = (
    b"PG001,V,IMAGES\\1.tif,Y,,,\r\nPG003,V,IMAGES\\3.tif,,,,\r\n"
    b"PG004,V,IMAGES\\4.tif,Y,,,\r\nPG006,V,IMAGES\\6.tif,Y,,,\r\n"
)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("numbers", [b"PG", b"SM"])
def test_pages_are_compared_by_the_number_that_the_images_have(world: World, numbers: bytes, check: bool) -> None:
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES.replace(b"PG", numbers)}, check=check)
    finish(world, rows)
    table = "import_check_findings" if check else "import_warnings"
    # Of the numbers that no image has, none is missing.
    assert found(world, images, table) == [(1, "PAGES_MISSING", "C1"), (3, "PAGES_MISSING", "C2")]
    assert reconciled(images) == (True, 1, [(rows, 1)], 2)
