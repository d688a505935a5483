"""What all models share."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.dialects.mysql import DATETIME
from sqlalchemy.orm import DeclarativeBase

Moment = DATETIME(fsp=6)
NOW = text("CURRENT_TIMESTAMP(6)")


class Base(DeclarativeBase):
    """All models."""
