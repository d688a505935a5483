"""The tables as SQLAlchemy models; `migrations` creates them, and a test compares the two.

Timestamps are DATETIME(6) in UTC. Text from load files is in columns of the deployment's character set (`DB_CHARSET`),
all other text is utf8mb4. Control numbers and Bates numbers are compared by bytes.
Rows that chunks write have no foreign key to `imports` or `cases`: each insert would take a shared lock on one hot
parent row, and upgrading it to an exclusive lock later would deadlock the chunks against each other.

Import a model from its own module; a model whose table references another table imports that one. Mapping all models
takes a seventh of a cold start, and no function uses more than half of them. These modules do not use `from __future__
import annotations`, since SQLAlchemy would have to evaluate each annotation from its text.
"""

from importlib import import_module

from sqlalchemy import MetaData
from sqlalchemy.orm import registry

from shell.tables.base import Base


def models() -> registry:
    """Return the registry of all models; import those that are not imported yet."""
    from pkgutil import iter_modules

    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return Base.registry


def metadata() -> MetaData:
    """Return the metadata of all tables."""
    return models().metadata
