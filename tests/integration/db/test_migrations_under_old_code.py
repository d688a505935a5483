"""A migration runs while the code before it is at work: whatever that inserts and reads, it still can."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError

from shell.maintenance.migrate import SCRIPTS
from shell.tables import metadata
from tests.support.database.old_code import ROWS, OldCode

pytestmark = pytest.mark.slow


def config(scripts: Path = SCRIPTS) -> Config:
    made = Config()
    made.set_main_option("script_location", str(scripts).replace("%", "%%"))
    made.attributes["charset"] = "utf8mb3"
    return made


REVISIONS = [script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()][::-1]


def upgrade(engine: Engine, revision: str) -> None:
    ours = config()
    with create_engine(engine.url).connect() as connection:
        ours.attributes["connection"] = connection
        command.upgrade(ours, revision)
        connection.commit()


# The newest revision too: with one migration, or none new, the harness still shows that it sees what it should.
@pytest.mark.parametrize("revision", REVISIONS)
def test_code_of_every_revision_inserts_and_reads_what_it_did_after_all_migrations(
    empty: Engine, revision: str
) -> None:
    upgrade(empty, revision)
    code = OldCode(empty)
    code.insert()
    before = code.rows()
    assert all(len(rows) >= ROWS for rows in before.values())
    upgrade(empty, "head")
    assert code.rows() == before, "nothing that was there is lost or changed"
    code.insert()
    assert {name: len(rows) for name, rows in code.rows().items()} == {n: len(r) + ROWS for n, r in before.items()}


# Each is how one would write it without thinking of the code that still runs; how it is undone; what old code meets.
BREAKING = [
    ("import_chunks ADD CONSTRAINT c CHECK (row_count > 1)", "import_chunks DROP CONSTRAINT c", "3819|4025"),
    ("exhibits ADD COLUMN pages INT NOT NULL", "exhibits DROP COLUMN pages", "1364"),
    ("exhibits DROP COLUMN line_no", "exhibits ADD COLUMN line_no BIGINT NOT NULL", "1054"),
    ("cases RENAME COLUMN tenant_id TO tenant", "cases RENAME COLUMN tenant TO tenant_id", "1054"),
    ("imports MODIFY COLUMN size SMALLINT NOT NULL, ADD UNIQUE KEY u (size)", "imports DROP KEY u", "1062"),
    ("import_name_occurrences RENAME TO gone", "gone RENAME TO import_name_occurrences", "1146"),
]


def test_a_migration_that_breaks_old_code_or_changes_what_is_there_is_found(empty: Engine) -> None:
    """The negative controls."""
    upgrade(empty, "head")
    code = OldCode(empty)
    with empty.connect() as connection:
        for change, undo, said in BREAKING:
            connection.execute(text(f"ALTER TABLE {change}"))
            with pytest.raises(DBAPIError, match=said):
                read_and_insert(code)
            connection.execute(text(f"ALTER TABLE {undo}"))
        read_and_insert(code)
        before = code.rows()
        connection.execute(text("UPDATE exhibits SET control_number = CONCAT('0', control_number)"))
    assert code.rows() != before


def read_and_insert(code: OldCode) -> None:
    code.rows()
    code.insert()


class DiedError(Exception):
    """The process that migrates is gone."""


def upgrade_dying_after(engine: Engine, statements: int) -> None:
    """Migrate until so many statements were executed; what was not committed then is rolled back."""
    left = iter(range(statements - 1))

    def executed(*_: Any) -> None:
        if next(left, None) is None:
            raise DiedError

    event.listen(Engine, "after_cursor_execute", executed)
    try:
        upgrade(engine, "head")
    finally:
        event.remove(Engine, "after_cursor_execute", executed)


def test_wherever_a_migration_dies_the_next_run_completes_it(empty: Engine) -> None:
    """Each run dies one statement later than the one before, until one gets to the end."""
    for statements in count(1):
        try:
            upgrade_dying_after(empty, statements)
        except DiedError:
            continue
        break
    assert statements > 10
    assert set(inspect(empty).get_table_names()) == {*metadata().tables, "alembic_version"}
