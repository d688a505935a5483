"""A migration runs while the code before it is at work: whatever that inserts and reads, it still can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

from shell.migration_ops import SCRIPTS
from tests.support import servers
from tests.support.database import Database
from tests.support.old_code import ROWS, OldCode


def config(scripts: Path = SCRIPTS) -> Config:
    made = Config()
    made.set_main_option("script_location", str(scripts).replace("%", "%%"))
    made.attributes["charset"] = "utf8mb3"
    return made


REVISIONS = [script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()][::-1]


@pytest.fixture
def empty(database: Database) -> Iterator[Engine]:
    """A schema without a table."""
    url = servers.fresh_schema(database.url.render_as_string(hide_password=False), f"{database.url.database}_before")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()
    servers.drop_schema(url)


def upgrade(engine: Engine, revision: str) -> None:
    ours = config()
    with create_engine(engine.url).connect() as connection:
        ours.attributes["connection"] = connection
        command.upgrade(ours, revision)
        connection.commit()


@pytest.mark.parametrize("revision", REVISIONS[:-1])
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


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("ALTER TABLE exhibits ADD COLUMN pages INT NOT NULL", "1364"),
        ("ALTER TABLE exhibits DROP COLUMN line_no", "1054"),
        ("ALTER TABLE cases RENAME COLUMN tenant_id TO tenant", "1054"),
        ("ALTER TABLE imports MODIFY COLUMN size SMALLINT NOT NULL, ADD UNIQUE KEY u (size)", "1062"),
        ("ALTER TABLE import_chunks ADD CONSTRAINT c CHECK (row_count > 1)", "3819|4025"),
        ("DROP TABLE import_names", "1146"),
    ],
)
def test_a_migration_that_breaks_old_code_is_found(empty: Engine, statement: str, said: str) -> None:
    """The naive twins: each is how one would write it without thinking of the code that still runs."""
    upgrade(empty, "head")
    code = OldCode(empty)
    with empty.connect() as connection:
        connection.execute(text(statement))
    with pytest.raises(DBAPIError, match=said):
        read_and_insert(code)


def read_and_insert(code: OldCode) -> None:
    code.rows()
    code.insert()


def test_that_destinations_got_lock_ids_is_found_as_long_as_the_server_gives_none(empty: Engine) -> None:
    upgrade(empty, "0004")
    code = OldCode(empty)
    upgrade(empty, "0005")
    with pytest.raises(DBAPIError, match=r"1364.*advisory_id"):
        code.insert()


def test_a_migration_that_changes_what_is_there_is_found(empty: Engine) -> None:
    upgrade(empty, "head")
    code = OldCode(empty)
    code.insert()
    before = code.rows()
    with empty.connect() as connection:
        connection.execute(text("UPDATE exhibits SET control_number = CONCAT('0', control_number)"))
    assert code.rows() != before
