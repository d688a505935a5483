"""Volumes as clients and the queue have them: created, uploaded, imported, worked on."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import handle_failed_import
import process_volume
import start_import
from core.caller import Caller
from core.contracts.volumes import NewVolume, NewVolumeFile, PendingFiles, VolumeDetails, VolumeImportRequest
from shell.aws import clients
from shell.db.session import session
from shell.settings import settings
from shell.volumes.commands import import_volume
from shell.volumes.queries import get_volume
from shell.volumes.uploads import create_volume, declare_files
from tests.support.application.driver import Message, World, call, complete_imports, request_messages, taken_from

T = TypeVar("T")
CALLER, STRANGER = Caller("tenant", "ada"), Caller("other", "eve")
DAT = b"Control Number,Title,Native Path\r\nA-1,One,NATIVES\\1.txt\r\nA-2,Two,NATIVES\\2.txt\r\n"
OPT = b"A-1,VOL,IMAGES\\1.tif,Y,,,1\r\n"
FILES = {
    "DATA/load.dat": DAT,
    "IMAGES/1.tif": b"image",
    "NATIVES/1.txt": b"native one",
    "NATIVES/2.txt": b"native two",
    "TEXT/.DS_Store": b"ignored",
}
STORED = (
    "SELECT file_no, path, HEX(path_hash), size, version_id, etag, HEX(md5), HEX(sha1), HEX(sha256), unit_no, entry "
    "FROM volume_files WHERE volume_id = :id ORDER BY file_no"
)


def committed(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """The result of an operation, in a transaction of its own."""
    with session() as transaction:
        return work(transaction, *arguments, **named)


def create(*, caller: Caller = CALLER, **body: Any) -> int:
    """Create a volume; returns its id."""
    fields = {"case": "Case", "name": "VOL001", **body}
    return committed(create_volume, caller, NewVolume.model_validate(fields)).id


def declare(volume_id: int, files: Mapping[str, bytes], caller: Caller = CALLER) -> PendingFiles:
    """Declare files."""
    declared = [NewVolumeFile(path=path, size=len(data)) for path, data in files.items()]
    return committed(declare_files, caller, volume_id, declared)


def put(world: World, volume_id: int, path: str, data: bytes = b"x") -> str:
    """Put an object into the volume's folder; returns its version."""
    prefix = state(volume_id).prefix
    return str(clients.s3().put_object(Bucket=world.bucket, Key=prefix + path, Body=data)["VersionId"])


def upload(world: World, files: Mapping[str, bytes] = FILES, **body: Any) -> int:
    """Create a volume, declare its files and put them; returns its id."""
    volume_id = create(**body)
    declare(volume_id, files)
    for path, data in files.items():
        put(world, volume_id, path, data)
    return volume_id


def build_zip(files: Mapping[str, bytes] = FILES) -> bytes:
    """A zip as a program would make it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in files.items():
            made.writestr(path, data)
    return buffer.getvalue()


def upload_zip(world: World, raw: bytes | None = None, **body: Any) -> int:
    """Create a volume that is a zip and put it; returns its id."""
    data = build_zip() if raw is None else raw
    volume_id = create(archive={"fileName": "VOL001.zip", "size": len(data)}, **body)
    key = world.query("SELECT archive_key FROM volumes WHERE id = :id", id=volume_id)[0][0]
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=data)
    return volume_id


def request(volume_id: int, caller: Caller = CALLER, **body: Any) -> VolumeDetails:
    """Seal a volume and have it imported."""
    return committed(import_volume, caller, volume_id, VolumeImportRequest.model_validate(body))


def work_messages() -> list[Message]:
    """Take all messages from the queue of volumes' work."""
    return taken_from(settings().volume_work_queue_url)


def process(*messages: Message) -> bool:
    """Deliver messages; True if they were acknowledged."""
    acknowledged = [call(process_volume.lambda_handler, message) for message in messages]
    return all(acknowledged)


def run(volume_id: int, **body: Any) -> VolumeDetails:
    """Have a volume imported, and deliver all messages until none is left."""
    request(volume_id, **body)
    return drain(volume_id)


def drain(volume_id: int) -> VolumeDetails:
    """Deliver all messages until none is left."""
    while messages := work_messages():
        assert process(*messages)
    return state(volume_id)


def finish_imports(world: World) -> None:
    """Deliver the requests of imports, and all that follows from them, until none is left."""
    while messages := request_messages():
        for message in messages:
            assert call(start_import.lambda_handler, message)
        for chunk in world.chunk_messages():
            assert world.import_chunk(chunk)
        complete_imports()


def deliver_dead_letter(message: Message) -> bool:
    """Deliver a dead letter."""
    return call(handle_failed_import.lambda_handler, message)


def state(volume_id: int, caller: Caller = CALLER) -> VolumeDetails:
    """How far a volume is."""
    return get_volume(caller, volume_id)


def stored(world: World, volume_id: int) -> list[dict[str, Any]]:
    """The rows of a volume's files, in their order."""
    return [dict(row._mapping) for row in world.query(STORED, id=volume_id)]


def bodies(world: World, volume_id: int) -> dict[str, bytes]:
    """The bytes of the listed version of each file, by path."""
    prefix = state(volume_id).prefix
    return {
        row["path"]: clients.s3()
        .get_object(Bucket=world.bucket, Key=prefix + row["path"], VersionId=row["version_id"])["Body"]
        .read()
        for row in stored(world, volume_id)
    }


def versions(world: World, volume_id: int) -> dict[str, int]:
    """How many versions each object of the volume has, by path."""
    prefix = state(volume_id).prefix
    found = clients.s3().list_object_versions(Bucket=world.bucket, Prefix=prefix).get("Versions", [])
    keys = [each["Key"].removeprefix(prefix) for each in found]
    return {key: keys.count(key) for key in keys}


def import_rows(world: World, volume_id: int) -> list[dict[str, Any]]:
    """The imports of a volume, in their order."""
    rows = world.query("SELECT * FROM imports WHERE volume_id = :id ORDER BY id", id=volume_id)
    return [dict(row._mapping) for row in rows]
