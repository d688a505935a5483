"""Volumes that are ready, as sealing leaves them, and imports of their load files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import start_import
from core.volumes.folders import FolderSurvey
from core.volumes.paths import fold_path, hash_path
from shell.aws import clients
from shell.db.session import session
from shell.exhibits.cases import get_or_create_case
from shell.volume_files.same_names import hash_name
from tests.support.application.driver import World, call, complete_imports

TENANT = "tenant"


def put_volume(
    world: World, files: Mapping[str, bytes], *, name: str = "VOL001", case: str = "Case", hashed: bool = False
) -> int:
    """Put the files into the bucket and list them; return the volume's id. `hashed`: as an expanded zip is."""
    with session() as transaction:
        case_id = get_or_create_case(transaction, TENANT, case)
    world.query(
        "INSERT INTO volumes (tenant_id, case_id, name, user_id, prefix, status, files) "
        "VALUES (:tenant, :case, :name, 'ann', '', 'ready', :files)",
        tenant=TENANT,
        case=case_id,
        name=name,
        files=len(files),
    )
    volume_id = int(world.query("SELECT MAX(id) FROM volumes")[0][0])
    prefix, survey = f"volumes/{TENANT}/{case}/{volume_id}/", FolderSurvey()
    for path in files:
        survey.add(path)
    folders = json.dumps(survey.select_near(files))
    values = {"prefix": prefix, "folders": folders, "id": volume_id}
    world.query("UPDATE volumes SET prefix = :prefix, folders = :folders WHERE id = :id", **values)
    for number, (path, data) in enumerate(sorted(files.items())):
        _add_file(world, volume_id, number, prefix, path, data, hashed=hashed)
    return volume_id


def _add_file(world: World, volume_id: int, number: int, prefix: str, path: str, data: bytes, *, hashed: bool) -> None:
    put = clients.s3().put_object(Bucket=world.bucket, Key=prefix + path, Body=data)
    world.query(
        "INSERT INTO volume_files "
        "(volume_id, file_no, path, path_hash, size, version_id, etag, md5, sha1, sha256, name_hash) "
        "VALUES (:volume, :number, :path, :hash, :size, :version, :etag, :md5, :sha1, :sha256, :name_hash)",
        volume=volume_id,
        number=number,
        path=path,
        hash=hash_path(fold_path(path)),
        size=len(data),
        version=put["VersionId"],
        etag=put["ETag"].strip('"'),
        md5=hashlib.md5(data, usedforsecurity=False).digest() if hashed else None,
        sha1=hashlib.sha1(data, usedforsecurity=False).digest() if hashed else None,
        sha256=hashlib.sha256(data).digest() if hashed else None,
        name_hash=hash_name(path),
    )


def start_volume_import(world: World, volume_id: int, load_file: str, **options: Any) -> int:
    """Start the import of a volume's load file; return its id."""
    columns = "tenant_id, case_id, user_id, bucket, object_key, version_id, etag, size, file_name, volume_id, options"
    world.query(
        f"INSERT INTO imports ({columns}, upload_key, status, phase) "
        "SELECT v.tenant_id, v.case_id, v.user_id, :bucket, CONCAT(v.prefix, f.path), f.version_id, f.etag, f.size, "
        "f.path, v.id, :options, UNHEX(SHA2(UUID(), 256)), 'splitting', :phase "
        "FROM volumes v JOIN volume_files f ON f.volume_id = v.id WHERE v.id = :volume AND f.path = :path",
        bucket=world.bucket,
        options=json.dumps(options),
        phase="check" if options.get("dry_run") else "import",
        volume=volume_id,
        path=load_file,
    )
    import_id = int(world.query("SELECT MAX(id) FROM imports")[0][0])
    assert call(start_import.lambda_handler, {"import_id": import_id, "generation": 1})
    complete_imports()
    return import_id


def import_volume(world: World, volume_id: int, load_file: str, **options: Any) -> int:
    """Import a volume's load file to its end; return the import's id."""
    import_id = start_volume_import(world, volume_id, load_file, **options)
    for message in world.chunk_messages():
        assert world.import_chunk(message), message
    return import_id
