"""The files of an exhibit: which there are, how their URLs respond, and which are never signed."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from core.caller import Caller
from core.contracts.exhibit_lists import ExhibitFile
from core.contracts.queries import FilesQuery
from core.errors import NotFoundError
from shell.aws import clients
from shell.exhibit_files.downloads import BINARY, SHOWN, find_media_type
from shell.exhibit_files.files import list_files
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.volumes.stored_files import page_set, tiff, volume, volume_file
from tests.support.volumes.volume_imports import import_volume, put_volume

DAT = "DATA/load.csv"
HEAD = "Control Number,Native Link,Text Link"


def files_of(exhibit_id: int, caller: Caller = CALLER, limit: int = 2) -> list[ExhibitFile]:
    """All pages of the list."""
    found: list[ExhibitFile] = []
    after = None
    while True:
        page = list_files(caller, exhibit_id, FilesQuery(limit=limit, after=after))
        found += page.items
        after = page.next
        if after is None:
            return found


def fetch(url: str | None) -> requests.Response:
    assert url is not None
    return requests.get(url, timeout=20)


def loaded(world: World, files: dict[str, bytes], *rows: str, head: str = HEAD) -> tuple[int, list[int]]:
    """A volume whose load file was imported, and the ids of its exhibits."""
    made = put_volume(world, {**files, DAT: "\r\n".join((head, *rows, "")).encode()}, hashed=True)
    import_volume(world, made, DAT)
    return made, [row[0] for row in world.query("SELECT id FROM exhibits ORDER BY control_number")]


def test_files_of_a_volume_have_urls_of_the_version_that_was_listed(world: World) -> None:
    made, [one, two] = loaded(
        world,
        {"N/Zoë 1.pdf": b"%PDF one", "T/1.txt": b"first"},
        r"A-1,N\Zoë 1.pdf,T\1.txt",
        r"A-2,N\gone.pdf,",
    )
    clients.s3().put_object(Bucket=world.bucket, Key=f"volumes/tenant/Case/{made}/T/1.txt", Body=b"another")
    native, text = files_of(one, limit=1)
    assert (native.kind, native.path, native.volume_id, native.size) == ("native", "N/Zoë 1.pdf", made, 8)
    assert (native.state, native.media_type, native.page, native.expires_in_seconds) == (
        "stored",
        "application/pdf",
        None,
        3600,
    )
    response = fetch(native.url)
    assert (response.content, response.headers["content-type"]) == (b"%PDF one", "application/pdf")
    assert (
        response.headers["content-disposition"] == "inline; filename=\"Zo_ 1.pdf\"; filename*=UTF-8''Zo%C3%AB%201.pdf"
    )
    assert (text.kind, fetch(text.url).content, len(text.sha256 or "")) == ("text", b"first", 64)
    saved = list_files(CALLER, one, FilesQuery(download=True)).items[0]
    assert fetch(saved.url).headers["content-disposition"].startswith('attachment; filename="Zo_ 1.pdf"')
    assert list_files(CALLER, one, FilesQuery.model_validate({"fromPage": 1})).items == []
    [missing] = files_of(two)
    assert (missing.path, missing.volume_id, missing.state, missing.url) == (r"N\gone.pdf", made, "missing", None)


@pytest.mark.parametrize(
    "name", ["a.html", "a.HTM", "a.svg", "a.xml", "a.js", "a.xhtml", "a.docx", "txt", "a.", "a.pdf.html"]
)
def test_what_can_run_in_a_browser_is_downloaded(world: World, name: str) -> None:
    _, [exhibit] = loaded(world, {f"N/{name}": b"<script>alert(1)</script>"}, f"A-1,N/{name},")
    [native] = files_of(exhibit)
    response = fetch(native.url)
    assert (response.headers["content-type"], native.media_type) == (BINARY, BINARY)
    assert response.headers["content-disposition"].startswith("attachment; ")


def test_no_type_that_runs_scripts_is_shown() -> None:
    assert not [each for each in SHOWN.values() if any(part in each for part in ("html", "xml", "svg", "script"))]
    assert find_media_type(r"folder.txt\a") == find_media_type("a") == BINARY


def test_pages_are_images_or_pages_of_one_file(world: World) -> None:
    case = get_or_create_case(world, "Case", "tenant")
    [exhibit] = put_exhibits(world, case, ["A-1"])
    made = volume(world)
    several = volume_file(world, made, "I/several.tif", tiff(2))
    page_set(
        world, exhibit, [(several, 1), (several, 2), (volume_file(world, made, "I/3.jpg", b"3"), 0), ("4.tif", 0)], made
    )
    found = files_of(exhibit, limit=3)
    assert [(each.kind, each.page, each.page_in_file, each.path, each.state) for each in found] == [
        ("page", 1, 1, "I/several.tif", "stored"),
        ("page", 2, 2, "I/several.tif", "stored"),
        ("image", 3, None, "I/3.jpg", "stored"),
        ("image", 4, None, "4.tif", "missing"),
    ]
    assert fetch(found[2].url).content == b"3"
    assert list_files(CALLER, exhibit, FilesQuery(limit=4)).next is None
    part = list_files(CALLER, exhibit, FilesQuery.model_validate({"fromPage": 2, "limit": 2}))
    assert [each.page for each in part.items] == [2, 3]
    assert [each.page for each in list_files(CALLER, exhibit, FilesQuery(after=part.next)).items] == [4]
    assert list_files(CALLER, exhibit, FilesQuery.model_validate({"fromPage": 5})).items == []


def test_a_path_without_a_volume_stays_within_the_files_of_the_case(world: World) -> None:
    case = get_or_create_case(world, "Case", "tenant")
    clients.s3().put_object(Bucket=world.bucket, Key="files/tenant/Case/N/1.msg", Body=b"one")
    inside, outside = (
        put_exhibits(world, case, [number], native_path=path)[0]
        for number, path in (("A-1", r".\N\1.msg"), ("A-2", r"..\..\other\Case\N\1.msg"))
    )
    [native] = files_of(inside)
    assert (native.state, native.size, fetch(native.url).content) == ("path_only", None, b"one")
    [native] = files_of(outside)
    assert (native.state, native.url) == ("path_only", None)


def test_a_text_in_cells_has_no_url(world: World) -> None:
    world.run(b"Control Number,Extracted Text\r\nA-1,its text\r\nA-2,of a neighbour\r\n")
    [(exhibit,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    [text] = files_of(exhibit)
    assert (text.kind, text.state, text.size, text.path, text.url) == ("text", "stored", 8, None, None)


def test_nothing_of_another_tenant_or_of_a_deleted_volume_is_signed(world: World) -> None:
    made, [exhibit] = loaded(world, {"N/1.pdf": b"one"}, "A-1,N/1.pdf,")
    for caller in (Caller("other", "eve"), Caller("tenant", "eve", cases=frozenset({"Other"}))):
        with pytest.raises(NotFoundError):
            files_of(exhibit, caller)
    changes: tuple[tuple[str, Any], ...] = (("status", "deleting"), ("status", "deleted"), ("tenant_id", "other"))
    for column, value in changes:
        world.query(f"UPDATE volumes SET status = 'ready', tenant_id = 'tenant' WHERE id = {made}")
        assert files_of(exhibit)[0].url is not None
        world.query(f"UPDATE volumes SET {column} = :v WHERE id = :i", v=value, i=made)
        [native] = files_of(exhibit)
        assert (native.state, native.url, native.size) == ("missing", None, None)
