"""What a check is compared with when it is run, and the options of imports that were put into the bucket."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"

CHANGE_COMMENT = """
    ALTER TABLE imports MODIFY COLUMN options MEDIUMTEXT
      COMMENT 'The options as JSON; those beside a file put into the bucket directly are recorded once it is split'
"""


def upgrade() -> None:
    """Change the comment; it can be repeated."""
    op.execute(CHANGE_COMMENT)
