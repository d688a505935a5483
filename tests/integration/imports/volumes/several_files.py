"""Volumes with three image load files, and what their imports find."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import complete_import
import import_chunk
import start_import
from shell.imports.queries import get_import
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import Message, World, call, completion_messages, request_messages
from tests.support.volumes.paired_imports import DAT_PATH, announce_several

ONE, TWO, THREE = "DATA/1.opt", "DATA/2.opt", "DATA/3.opt"
DATA = b"BEGDOC,ENDDOC,PAGECOUNT\r\nA1,A2,2\r\nA3,A4,2\r\nA5,A5,1\r\nA6,A6,1\r\n"


def image_file(*pages: str) -> bytes:
    """An Opticon file of pages; one that ends with a star begins a document."""
    names = [(page.strip("*"), "Y" if "*" in page else "") for page in pages]
    return "".join(f"{name},V,IMAGES\\{name}.tif,{begins},,,\r\n" for name, begins in names).encode()


# A4 is in the second file, under A5; nothing has A6.
FILES = {DAT_PATH: DATA, ONE: image_file("A1*", "A2"), TWO: image_file("A3*"), THREE: image_file("A5*", "A4")}


def complete(message: Message) -> None:
    assert call(complete_import.lambda_handler, message)


def work(world: World, deliver: Callable[[Message], None] = complete) -> None:
    """Deliver everything until nothing is left; `deliver` takes the completions."""
    while True:
        requests = request_messages()
        for message in requests:
            assert call(start_import.lambda_handler, message)
        chunks = world.chunk_messages()
        for chunk in chunks:
            assert call(import_chunk.lambda_handler, chunk)
        completions = completion_messages()
        for message in completions:
            deliver(message)
        if not (requests or chunks or completions):
            return


def begin(world: World, files: dict[str, bytes] = FILES, **more: object) -> list[int]:
    paths = sorted(path for path in files if path.endswith(".opt"))
    ids = announce_several(world, files, *paths, **more)  # type: ignore[arg-type]
    assert call(start_import.lambda_handler, {"import_id": ids[0], "generation": 1})
    return ids


def run(world: World, files: dict[str, bytes] = FILES, **more: object) -> list[int]:
    ids = begin(world, files, **more)
    work(world)
    return ids


def findings(world: World, import_id: int, table: str = "import_warnings") -> list[tuple[object, ...]]:
    query = f"SELECT line_no, code, control_number FROM {table} WHERE import_id = :i AND code <> 'IMAGE_MISSING' "
    return [tuple(row) for row in world.query(query + "ORDER BY line_no, seq", i=import_id)]


def is_current(import_id: int) -> bool:
    state = get_import(CALLER, import_id).reconciliation
    return state is not None and state.is_current


def without_images(import_id: int) -> int | None:
    pages = get_import(CALLER, import_id).pages
    assert pages is not None
    return pages.without_images


EXPECTED = [
    [],
    # A3's second page is under A5: not missing, but the number of pages differs.
    [],
    [(0, "NO_IMAGES", "A6"), (2, "PAGE_OF_OTHER_DOCUMENT", "A5")],
]


def everything(world: World, ids: Sequence[int], table: str = "import_warnings") -> list[list[tuple[object, ...]]]:
    return [findings(world, each, table) for each in ids[1:]]
