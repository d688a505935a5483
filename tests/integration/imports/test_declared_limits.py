"""The limits with which the command previews a file are those of a new database."""

from __future__ import annotations

import pytest

from shell.db.column_limits import column_limits
from shell.settings import settings
from tests.support.application.driver import World
from tests.support.imports.declared_limits import declared_limits


@pytest.mark.parametrize("table", ["exhibits", "custodians", "tags"])
def test_the_declared_limits_are_those_of_the_database(table: str, world: World) -> None:
    assert settings().db_charset == "utf8mb3"
    assert column_limits(table) == declared_limits(table)
