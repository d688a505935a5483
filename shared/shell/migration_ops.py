"""Bringing the schema up to date, once, whoever asks at the same time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config

from shell.observability import logger
from shell.settings import settings
from shell.utils.advisory_lock import exclusive_connection
from shell.utils.cloudformation import answer

LOCK_WAIT_S = 60


def migrate(event: dict[str, Any]) -> dict[str, str]:
    """Apply the migrations that are missing, and tell CloudFormation if it was the one that asked."""
    with answer(event):
        if event.get("RequestType") != "Delete":
            _upgrade()
    return {"status": "migrated"}


def _upgrade() -> None:
    """MySQL commits every DDL statement by itself, so two migrations must not run side by side."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with exclusive_connection("migrations", LOCK_WAIT_S) as connection:
        config.attributes["connection"] = connection
        config.attributes["charset"] = settings().db_charset
        command.upgrade(config, "head")
        connection.commit()
    logger.info("schema is up to date")
