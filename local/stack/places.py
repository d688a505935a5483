"""Where a stack keeps its data in the state directory."""

from __future__ import annotations

import hashlib
from pathlib import Path

DATABASE, OBJECTS = "database", "objects"


def find_storage(state_dir: Path, database_url: str | None) -> Path:
    """Return the folder of the objects and messages of a database, by default of the private one.

    Each database has its own: messages name rows, and the same ids are other rows in another database.
    """
    if database_url is None:
        return state_dir / OBJECTS
    from local.services.mysql_connection import describe_place

    return state_dir / f"{OBJECTS}-{hashlib.sha256(describe_place(database_url).encode()).hexdigest()[:12]}"


def list_storages(state_dir: Path) -> list[Path]:
    """Return the folders of objects and messages that there are, of all databases."""
    return sorted(path for path in state_dir.glob(f"{OBJECTS}*") if path.is_dir())
