"""Image load files for tests, and the pages that documents have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.support.database.committed_state import Queried

DAT = b"Control Number,Bates Begin,Title\r\nA-1,N-1,one\r\nA-2,N-3,two\r\nA-3,N-4,three\r\n"
# A-1 has two pages, A-2 one, A-3 three, which are those of one file.
OPT = (
    b"A-1,VOL001,IMAGES\\1.tif,Y,,,2\r\nA-1.2,VOL001,IMAGES\\2.tif,,,,\r\n"
    b"A-2,VOL001,IMAGES\\3.jpg,Y,,,1\r\nA-3,VOL001,IMAGES\\4.pdf,Y,,,3\r\n"
)
LFP = (
    b"IM,A-1,D,0,@VOL001;IMAGES;1.tif;2\r\nIM,A-1.2,,0,@VOL001;IMAGES;2.tif;2,90\r\n"
    b"FT,A-1,0,0,@VOL001;TEXT;1.txt\r\nIM,A-2,D,1,@VOL001;IMAGES;3.pdf;7\r\n"
)
IMAGES = {f"IMAGES/{name}": b"image" for name in ("1.tif", "2.tif", "3.jpg", "4.pdf")}


def opt(*documents: tuple[str, int], folder: str = "IMAGES") -> bytes:
    """An Opticon file of documents by key and number of pages, a file each."""
    lines = [
        f"{key if not page else f'{key}.{page}'},VOL001,{folder}\\{key}.{page}.tif,{'' if page else 'Y'},,,"
        f"{'' if page else pages}\r\n"
        for key, pages in documents
        for page in range(pages)
    ]
    return "".join(lines).encode()


def pages(world: Queried, *, with_source: bool = False) -> list[tuple[Any, ...]]:
    """Control number, page, image key, path, page within the file and rotation of all pages that documents have.

    The path is that of the file, if there is one, after a slash. `with_source`: also import and line.
    """
    source = ", s.import_id, s.line_no, s.declared_count, s.page_count" if with_source else ""
    rows = world.query(
        "SELECT e.control_number, p.page_no, p.image_key, COALESCE(p.path, CONCAT('/', f.path)), p.page_in_file, "
        f"p.rotation {source} FROM exhibits e JOIN page_sets s ON s.id = e.page_set_id "
        "JOIN pages p ON p.page_set_id = s.id LEFT JOIN volume_files f ON f.id = p.file_id ORDER BY 1, 2"
    )
    return [tuple(row) for row in rows]


def page_counts(world: Queried) -> dict[str, int]:
    """How many pages each document with pages has."""
    found: dict[str, int] = {}
    for number, *_ in pages(world):
        found[number] = found.get(number, 0) + 1
    return found


def counted(world: Queried, import_id: int) -> dict[str, int]:
    """What the chunks of an import counted, together."""
    total: dict[str, int] = {}
    for (stored,) in world.query("SELECT counts FROM import_chunk_files WHERE import_id = :i", i=import_id):
        for name, count in json.loads(stored).items():
            total[name] = total.get(name, 0) + count
    return total


def results(world: Queried, import_id: int) -> tuple[Any, ...]:
    """Status, documents of the file, imported, updated, unchanged, rejected."""
    columns = "status, rows_seen, imported, updated, unchanged, rejected"
    return tuple(world.query(f"SELECT {columns} FROM imports WHERE id = :i", i=import_id)[0])


def found(world: Queried, table: str = "import_rejections") -> Sequence[tuple[Any, ...]]:
    """Line, code and key of every rejection, warning or finding."""
    order = "line_no, code" if table == "import_check_findings" else "line_no, seq"
    return [tuple(row) for row in world.query(f"SELECT line_no, code, control_number FROM {table} ORDER BY {order}")]
