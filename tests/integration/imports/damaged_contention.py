"""The benchmark of contention on a damaged database: it `loses` a tag with each chunk, or `deadlocks` all the time.

The first argument says which, the others are the benchmark's.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from benchmarks.contention import main
from benchmarks.database import Database, temporary_database

LOSING = """
    CREATE TRIGGER loses AFTER UPDATE ON import_chunks FOR EACH ROW
    DELETE FROM taggings ORDER BY exhibit_id DESC LIMIT 1
"""


@contextmanager
def damaged(how: str, server: str | None) -> Iterator[Database]:
    """A database of its own, damaged."""
    with temporary_database(server) as database:
        if how == "loses":
            database.query(LOSING)
        else:
            database.deadlocks = partial(next, itertools.count())  # type: ignore[method-assign]
        yield database


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], partial(damaged, sys.argv[1])))
