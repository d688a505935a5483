"""Empty tables for the next test, at the cost of the tables that have rows."""

from __future__ import annotations

import os

from sqlalchemy import Engine, MetaData, text

from shell.aws.object_versions import delete_page
from shell.tables import metadata

# Where many add the same row at once: over one that was deleted and is not purged yet, an insert locks the gap before
# it, which makes deadlocks that are the tests' own.
MET_ON = frozenset({"devices", "bates_sequences", "insert_destinations"})
# Its one row belongs to the schema, as the migration adds it.
KEPT = frozenset({"outbox_state"})


def empty_tables(engine: Engine, *more: MetaData) -> None:
    """Delete the rows of all of the application's tables but KEPT, and of `more`; in one transaction but for MET_ON."""
    tables = [table.name for each in (metadata(), *more) for table in reversed(each.sorted_tables)]
    names = [name for name in tables if name not in KEPT]
    looks = " UNION ALL ".join(f"SELECT '{name}' FROM (SELECT 1 FROM {name} LIMIT 1) AS first_{name}" for name in names)
    with engine.begin() as connection:
        # What a failed test left locked fails the next one, which otherwise would wait for a day.
        connection.execute(text("SET lock_wait_timeout = 120"))
        for name in connection.execute(text(looks)).scalars().all():
            # DELETE is ten times faster than TRUNCATE on small tables.
            connection.execute(text(f"{'TRUNCATE' if name in MET_ON else 'DELETE FROM'} {name}"))


def restart_ids(engine: Engine) -> None:
    """Give ids from 1 on again in empty tables; delete the objects in the bucket, which ids given before name."""
    counted = "SELECT table_name FROM information_schema.columns WHERE table_schema = DATABASE() AND extra LIKE :auto"
    with engine.connect() as connection:
        for table in connection.execute(text(counted), {"auto": "%auto_increment%"}).scalars().all():
            connection.execute(text(f"ALTER TABLE {table} AUTO_INCREMENT = 1"))
    # Page after page from the beginning: markers of a page that is gone can skip others.
    while delete_page(os.environ["BUCKET"], ""):
        pass
