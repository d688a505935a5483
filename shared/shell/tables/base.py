"""The base class and column types of all models."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.dialects.mysql import DATETIME
from sqlalchemy.orm import DeclarativeBase

Timestamp = DATETIME(fsp=6)
NOW = text("CURRENT_TIMESTAMP(6)")


class Base(DeclarativeBase):
    """The base class of all models."""
