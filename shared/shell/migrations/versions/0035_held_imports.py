"""Imports can be held after their upload, and their options changed before they are checked or run.

Volumes know the files that can be their load files.
The previous release leaves both columns at their defaults. It cannot start a held import: the constraint refuses its
statement, and the message is delivered again until a function of this release takes it. The constraint is a copy of
`imports`, which has one row for each file.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0035"
down_revision = "0034"

# INSTANT, as in 0023.
COLUMNS = (
    (
        "imports",
        "options_version INT NOT NULL DEFAULT 1",
        "1, and one more for each change of the options by a user",
    ),
    (
        "imports",
        "wanted VARCHAR(8) NULL",
        "hold, check or import: what follows the upload; NULL if the import was never held: as phase says",
    ),
    (
        "volumes",
        "candidates MEDIUMTEXT NULL",
        "The files that can be its load files: path, size and kind, as JSON; NULL before",
    ),
)
ADD_CONSTRAINT = """
    ALTER TABLE imports ADD CONSTRAINT ck_imports_held
      CHECK (wanted IS NULL OR wanted <> 'hold' OR status NOT IN ('splitting', 'checking', 'running'))
"""
# Only the comments are other ones.
SET_COMMENTS = """
    ALTER TABLE imports
      MODIFY status VARCHAR(32) NOT NULL
        COMMENT 'awaiting_upload, uploaded, splitting, checking, checked, running or an end, such as completed',
      MODIFY generation INT NOT NULL DEFAULT 1
        COMMENT '1, and one more for each retry, run or change of options; older messages are ignored'
"""


def upgrade() -> None:
    """Add the columns and the constraint that are missing; a migration that was interrupted is completed."""
    inspector = inspect(op.get_bind())
    for table, column, comment in COLUMNS:
        if column.split()[0] not in {each["name"] for each in inspector.get_columns(table)}:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column} COMMENT '{comment}', ALGORITHM=INSTANT")
    if "ck_imports_held" not in {each["name"] for each in inspector.get_check_constraints("imports")}:
        op.execute(ADD_CONSTRAINT)
    op.execute(SET_COMMENTS)
