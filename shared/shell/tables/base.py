"""The base class and column types of all models."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import Table, text
from sqlalchemy.dialects.mysql import DATETIME
from sqlalchemy.orm import DeclarativeBase

Timestamp = DATETIME(fsp=6)
NOW = text("CURRENT_TIMESTAMP(6)")


class Base(DeclarativeBase):
    """The base class of all models; the first sentence of a model's docstring is its table's comment."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Map the model and set its table's comment."""
        super().__init_subclass__(**arguments)
        first_sentence, dot, _ = " ".join((cls.__doc__ or "").split()).partition(". ")
        cast("Table", cls.__table__).comment = first_sentence + dot.strip()
