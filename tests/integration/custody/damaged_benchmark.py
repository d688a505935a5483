"""The benchmark on a database where each change of a device plants two periods of it that overlap."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.custody.command import main
from benchmarks.database import Database, temporary_database

PLANTING = """
    CREATE TRIGGER plants AFTER UPDATE ON devices FOR EACH ROW
    INSERT INTO custody_periods (device_id, begin_at, end_at)
    VALUES (NEW.id, '1999-01-01', '1999-01-03'), (NEW.id, '1999-01-02', '1999-01-04')
"""


@contextmanager
def damaged(server: str | None) -> Iterator[Database]:
    """A database of its own, damaged."""
    with temporary_database(server) as database:
        database.query(PLANTING)
        yield database


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], damaged))
