"""The imports of a data file and of the image load file of its volume, which waits for it."""

from __future__ import annotations

import random

import start_import
from tests.support.application.driver import Message, World, call, complete_imports, request_messages
from tests.support.volumes.volume_imports import put_volume

DAT_PATH, OPT_PATH = "DATA/load.csv", "DATA/images.opt"


def announce(world: World, files: dict[str, bytes], *, check: bool = False) -> tuple[int, int]:
    """The imports of both load files of a volume, as it creates them; the images wait."""
    rows, images = announce_several(world, files, OPT_PATH, check=check)
    return rows, images


def announce_several(
    world: World, files: dict[str, bytes], *paths: str, check: bool = False, options: str = "{}"
) -> list[int]:
    """The imports of the load files of a volume, that of the data file first; the image load files wait."""
    volume = put_volume(world, files)
    ids: list[int] = []
    images = [(path, "images", "waiting") for path in paths]
    for path, kind, status in [(DAT_PATH, "rows", "splitting"), *images]:
        world.query(
            "INSERT INTO imports (tenant_id, case_id, user_id, bucket, object_key, version_id, etag, size, file_name, "
            "volume_id, options, upload_key, status, phase, kind, after_import_id) SELECT v.tenant_id, v.case_id, "
            "v.user_id, :bucket, CONCAT(v.prefix, f.path), f.version_id, f.etag, f.size, f.path, v.id, :options, "
            "UNHEX(SHA2(UUID(), 256)), :status, :phase, :kind, :after FROM volumes v "
            "JOIN volume_files f ON f.volume_id = v.id WHERE v.id = :volume AND f.path = :path",
            bucket=world.bucket,
            options=options,
            volume=volume,
            path=path,
            kind=kind,
            status=status,
            phase="check" if check else "import",
            after=ids[0] if ids else None,
        )
        ids.append(int(world.query("SELECT MAX(id) FROM imports")[0][0]))
    return ids


def finish(world: World, rows: int, shuffled: int | None = None) -> None:
    """Import the rows, then the images that wait for them, their chunks in any order."""
    messages: list[Message] = [{"import_id": rows, "generation": 1}]
    while messages:
        for message in messages:
            assert call(start_import.lambda_handler, message)
        chunks = world.chunk_messages()
        if shuffled is not None:
            random.Random(shuffled).shuffle(chunks)
        for chunk in chunks:
            assert world.import_chunk(chunk)
        complete_imports()
        messages = request_messages()
