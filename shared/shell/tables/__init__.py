"""The tables, as SQLAlchemy models; `migrations` creates them, and a test keeps the two the same.

Times are DATETIME(6) in UTC. Text that comes out of load files lives in columns of the deployment's character set
(`DB_CHARSET`); everything about the import itself is utf8mb4. Control numbers and Bates numbers compare by bytes.
No foreign key points at `imports` or `cases` from rows that chunks write: a shared lock on one hot parent row, raised
later to an exclusive one, deadlocks the chunks against each other.

Models are imported from the module that has them, and a model whose table refers to another one imports that: to map
all of them takes a seventh of a cold start, and no function uses more than half. These modules do without `from
__future__ import annotations`, for SQLAlchemy would have to evaluate each annotation from its text.
"""

from importlib import import_module

from sqlalchemy import MetaData
from sqlalchemy.orm import registry

from shell.tables.base import Base


def models() -> registry:
    """All models there are: those too that nobody has imported yet."""
    from pkgutil import iter_modules

    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return Base.registry


def metadata() -> MetaData:
    """All tables there are."""
    return models().metadata
