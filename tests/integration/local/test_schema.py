"""The migration runs unless the database is known to be at the newest revision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import URL, create_engine, make_url, text

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from local.stack.schema import find_newest_revision, prepare_schema


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    """A folder of three revisions, of which "c" is the newest."""
    folder = tmp_path / "versions"
    folder.mkdir()
    for revision, down in (("a", "None"), ("c", "'b'"), ("b", '"a"')):
        (folder / f"{revision}.py").write_text(f'"""One."""\nrevision = "{revision}"\ndown_revision = {down}\n')
    return folder


@pytest.fixture
def url(stack: LocalStack) -> Iterator[URL]:
    """A schema that does not exist yet, on the server of the toy stack."""
    made = make_url(stack.database_url).set(database="to be migrated")
    yield made
    _execute(made.set(database=""), "DROP DATABASE IF EXISTS `to be migrated`")


def _execute(url: URL, *statements: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def record(url: URL, *revisions: str) -> None:
    """Leave the table as Alembic does at these revisions."""
    _execute(
        url,
        "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL)",
        "DELETE FROM alembic_version",
        *(f"INSERT INTO alembic_version VALUES ('{revision}')" for revision in revisions),
    )


def test_the_newest_revision_is_the_one_that_alembic_finds() -> None:
    folder = REPOSITORY / "shared" / "shell" / "migrations"
    config = Config()
    config.set_main_option("script_location", str(folder))
    assert find_newest_revision(folder / "versions") == ScriptDirectory.from_config(config).get_current_head()


@pytest.mark.parametrize(
    "extra",
    ["", "revision = None\ndown_revision = None\n", 'revision = "d"\n', 'revision = "d"\ndown_revision = "b"\n'],
)
def test_no_revision_is_the_newest_where_a_file_has_none_or_two_are_left(migrations: Path, extra: str) -> None:
    assert find_newest_revision(migrations) == "c"
    (migrations / "another.py").write_text(extra)
    assert find_newest_revision(migrations) is None


@pytest.mark.parametrize(
    ("recorded", "is_current"), [((), False), (("b",), False), (("d",), False), (("c", "b"), False), (("c",), True)]
)
def test_only_a_database_at_the_newest_revision_is_current(
    url: URL, migrations: Path, recorded: tuple[str, ...], is_current: bool
) -> None:
    given = url.render_as_string(hide_password=False)
    assert not prepare_schema(given, migrations)
    record(url, *recorded)
    assert prepare_schema(given, migrations) == is_current
    assert not prepare_schema(given, None)
