"""Volumes with files in the bucket, and documents with pages, put past the application."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from PIL import Image
from pypdf import PdfWriter

from shell.aws import clients
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case

_lines = count(1)


def tiff(pages: int = 1) -> bytes:
    """A TIFF file of so many pages."""
    first, *more = (Image.new("1", (8, 8), color=number % 2) for number in range(pages))
    buffer = io.BytesIO()
    first.save(buffer, "TIFF", save_all=True, append_images=more)
    return buffer.getvalue()


def pdf(pages: int = 1, password: str | None = None) -> bytes:
    """A PDF file of so many pages."""
    writer, buffer = PdfWriter(), io.BytesIO()
    for _ in range(pages):
        writer.add_blank_page(72, 72)
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(buffer)
    return buffer.getvalue()


def volume(world: World, case: str = "Case") -> int:
    """A volume that is ready."""
    case_id = get_or_create_case(world, case, "tenant")
    world.query(
        "INSERT INTO volumes (tenant_id, case_id, name, user_id, prefix, status) VALUES "
        "('tenant', :c, 'IN001', 'u', '', 'ready')",
        c=case_id,
    )
    made = int(world.query("SELECT MAX(id) FROM volumes")[0][0])
    prefix = f"volumes/tenant/{case}/{made}/"
    world.query("UPDATE volumes SET prefix = :p WHERE id = :v", p=prefix, v=made)
    return made


def volume_file(world: World, volume_id: int, path: str, body: bytes, **columns: Any) -> int:
    """A file of the volume, in the bucket; returns its id."""
    [row] = world.query(
        "SELECT prefix, (SELECT COUNT(*) FROM volume_files) AS n FROM volumes WHERE id = :v", v=volume_id
    )
    version = clients.s3().put_object(Bucket=world.bucket, Key=row.prefix + path, Body=body)["VersionId"]
    values = {
        "volume_id": volume_id,
        "file_no": row.n,
        "path": path,
        "path_hash": b"0" * 16,
        "size": len(body),
        "version_id": version,
        "sha256": hashlib.sha256(body).digest(),
        "md5": hashlib.md5(body, usedforsecurity=False).digest(),
        **columns,
    }
    names = ", ".join(values)
    world.query(f"INSERT INTO volume_files ({names}) VALUES ({', '.join(f':{name}' for name in values)})", **values)
    return int(world.query("SELECT MAX(id) FROM volume_files")[0][0])


def page_set(
    world: World,
    exhibit_id: int,
    pages: Sequence[tuple[int | str, int]],
    volume_id: int | None,
    declared: int | None = None,
) -> int:
    """Pages of the document, as (file id or path, page in file); returns the id of their set."""
    line = next(_lines)
    world.query(
        "INSERT INTO page_sets (case_id, import_id, line_no, volume_id, page_count, declared_count, content_hash) "
        "SELECT case_id, 1000000, :l, :v, :n, :d, :h FROM exhibits WHERE id = :e",
        l=line,
        v=volume_id,
        n=len(pages),
        d=declared,
        h=b"0" * 32,
        e=exhibit_id,
    )
    made = int(world.query("SELECT MAX(id) FROM page_sets")[0][0])
    rows = [
        {
            "n": number,
            "f": file if isinstance(file, int) else None,
            "p": file if isinstance(file, str) else None,
            "i": at,
        }
        for number, (file, at) in enumerate(pages, 1)
    ]
    world.query(
        "INSERT INTO pages (page_set_id, page_no, image_key, file_id, path, page_in_file, rotation) "
        "SELECT :s, n, CONCAT('IMG', n), f, p, i, 0 FROM JSON_TABLE(:rows, '$[*]' COLUMNS (n INT PATH '$.n', "
        "f BIGINT PATH '$.f', p VARCHAR(1024) PATH '$.p', i INT PATH '$.i')) AS given",
        s=made,
        rows=json.dumps(rows),
    )
    world.query("UPDATE exhibits SET page_set_id = :s WHERE id = :e", s=made, e=exhibit_id)
    return made


def link_file(world: World, exhibit_id: int, kind: str, path: str, file_id: int, import_id: int = 1) -> None:
    """What an import found for the document's path."""
    world.query(
        "INSERT INTO exhibit_files (exhibit_id, kind, import_id, line_no, text_hash, file_id, rule) "
        "VALUES (:e, :k, :i, 2, :h, :f, 3)",
        e=exhibit_id,
        k=kind,
        i=import_id,
        h=hashlib.sha256(path.encode()).digest()[:16],
        f=file_id,
    )
