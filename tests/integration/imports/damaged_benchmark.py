"""The benchmarks of imports on what is damaged.

The first argument says how; the others are the benchmark's:
- `orm`: the comparison of imports, with an ORM that loses a link of the last exhibit that has one;
- `loses`: contention, on a database that loses a tag with each chunk;
- `deadlocks`: contention, on a database that counts a deadlock whenever it is queried.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from sqlalchemy import create_engine, text

from benchmarks import contention, import_rate
from benchmarks.database import Database, temporary_database
from benchmarks.imports.baselines import FinishedRows, orm_tutorial
from benchmarks.imports.contenders import BASELINES

LOSING = """
    CREATE TRIGGER loses AFTER UPDATE ON import_chunks FOR EACH ROW
    DELETE FROM taggings ORDER BY exhibit_id DESC LIMIT 1
"""


@contextmanager
def damaged(how: str, server: str | None) -> Iterator[Database]:
    """A temporary database, damaged."""
    with temporary_database(server) as database:
        if how == "loses":
            database.query(LOSING)
        else:
            database.deadlocks = partial(next, itertools.count())  # type: ignore[method-assign]
        yield database


def losing(url: str, finished: FinishedRows) -> None:
    """Import everything but one link."""
    orm_tutorial(url, finished)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM taggings ORDER BY exhibit_id DESC LIMIT 1"))
    engine.dispose()


def main(how: str, arguments: list[str]) -> int:
    """Run the benchmark with this damage."""
    if how == "orm":
        return import_rate.main(arguments, baselines={**BASELINES, "orm": losing})
    return contention.main(arguments, partial(damaged, how))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
