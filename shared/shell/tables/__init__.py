"""The tables, as SQLAlchemy models; `migrations` creates them, and a test keeps the two the same.

Times are DATETIME(6) in UTC. Text that comes out of load files lives in columns of the deployment's character set
(`DB_CHARSET`); everything about the import itself is utf8mb4. Control numbers and Bates numbers compare by bytes.
No foreign key points at `imports` or `cases` from rows that chunks write: a shared lock on one hot parent row, raised
later to an exclusive one, deadlocks the chunks against each other.
"""

from __future__ import annotations

from shell.tables.base import Base
from shell.tables.custody import CustodyChanges, CustodyPeriods, Devices
from shell.tables.exhibits import CustodianExhibits, Custodians, Exhibits, Taggings, Tags
from shell.tables.imports import (
    Cases,
    ImportChunks,
    ImportDuplicates,
    ImportNames,
    ImportRejections,
    Imports,
    ImportWarnings,
)
from shell.tables.mechanisms import (
    IdempotencyKeys,
    InsertDestinations,
    OutboxEvents,
    OutboxState,
    SemaphoreHolders,
    Semaphores,
)
from shell.tables.productions import BatesSequences, ProductionDocuments, Productions, ProductionSteps

__all__ = [
    "Base",
    "BatesSequences",
    "Cases",
    "CustodianExhibits",
    "Custodians",
    "CustodyChanges",
    "CustodyPeriods",
    "Devices",
    "Exhibits",
    "IdempotencyKeys",
    "ImportChunks",
    "ImportDuplicates",
    "ImportNames",
    "ImportRejections",
    "ImportWarnings",
    "Imports",
    "InsertDestinations",
    "OutboxEvents",
    "OutboxState",
    "ProductionDocuments",
    "ProductionSteps",
    "Productions",
    "SemaphoreHolders",
    "Semaphores",
    "Taggings",
    "Tags",
]
