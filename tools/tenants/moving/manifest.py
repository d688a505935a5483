"""The manifest of an exported tenant: what the folder has, and what it was made of.

Guaranteed: a folder with a manifest is complete; it is written last, by a rename.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.tenants.database import TenantToolError
from tools.tenants.moving.objects import ObjectVersion
from tools.tenants.moving.row_files import hash_file

MANIFEST, OBJECTS, REPLICATION, VERIFIED = "manifest.json", "objects.jsonl.gz", "replication.csv", "verified.json"
FORMAT = 1


def write_json(path: Path, content: Any) -> None:
    """Write a file that is either complete or not there."""
    draft = path.with_name(f"{path.name}.partial")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest. Raises TenantToolError if there is none, or if it was written by another version."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise TenantToolError(f"{folder} has no complete export ({exc}); run `tools.tenant export` again") from exc
    if manifest.get("format") != FORMAT:
        raise TenantToolError(f"{folder} was exported by another version; use that version, or export the tenant again")
    return dict(manifest)


def write_objects(path: Path, versions: Iterable[ObjectVersion]) -> dict[str, Any]:
    """Write the list of objects, a line each; return what the manifest states of it."""
    count = size = 0
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as file:
        for version in versions:
            file.write(json.dumps(version).encode() + b"\n")
            count, size = count + 1, size + version.size
    return {"name": path.name, "versions": count, "bytes": size, "sha256": hash_file(path)}


def read_objects(folder: Path, manifest: dict[str, Any]) -> Iterator[ObjectVersion]:
    """Yield the list of objects. Raises TenantToolError before the first one if it was changed."""
    path = folder / manifest["objects"]["name"]
    if not path.is_file() or hash_file(path) != manifest["objects"]["sha256"]:
        raise TenantToolError(f"{path} is missing or is not what was written; export the tenant again")
    with gzip.open(path, "rb") as lines:
        yield from (ObjectVersion._make(json.loads(line)) for line in lines)
