"""Documents have the Bates ranges that they were delivered under besides that of their fields, one row for each claim.

Confirmed productions get theirs here, in batches; a batch that is repeated changes nothing. Ranges that overlays
replaced before are in the history of their documents alone. The previous release neither reads nor writes the table.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Connection, text

revision = "0032"
down_revision = "0031"

ROWS_PER_BATCH = 10_000
TABLE = """
    CREATE TABLE IF NOT EXISTS production_numbers (
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      import_id BIGINT NOT NULL COMMENT 'The import that states it, imports.id; 0: none',
      production_id BIGINT NOT NULL
        COMMENT 'The production that assigned it, productions.id; 0: none, and if both are 0 a user stated it',
      seq INT NOT NULL
        COMMENT '0 for the Bates columns of a row, from 1 for its others; of a replaced range: minus its version',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      line_no BIGINT NOT NULL COMMENT 'The line of the import''s file; 0 without an import',
      prefix VARBINARY(1020) NOT NULL
        COMMENT 'What comes before the number, in UTF-8; all of a text that is not a number',
      level SMALLINT
        COMMENT 'The logarithm to base 2 of the count of numbers, rounded up; NULL if it is not a number',
      first_number BIGINT COMMENT 'The first number, without prefix',
      last_number BIGINT COMMENT 'The last number, without prefix',
      bates_begin VARCHAR(255) NOT NULL COMMENT 'The first Bates number as stated',
      bates_end VARCHAR(255) COMMENT 'The last Bates number as stated; NULL if not',
      label VARCHAR(255) COMMENT 'The volume or producing party as the file states it; NULL if it does not',
      PRIMARY KEY (exhibit_id, import_id, production_id, seq),
      KEY ix_production_numbers_range (case_id, prefix, level, first_number, last_number),
      KEY ix_production_numbers_begin (case_id, bates_begin),
      KEY ix_production_numbers_import (import_id, line_no),
      KEY ix_production_numbers_production (production_id)
    ) COMMENT 'A range of Bates numbers under which a document was delivered, besides that of its own fields.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
# By the primary key; the last id of a batch is where the next one begins.
END_OF_BATCH = text(
    "SELECT MAX(id) FROM (SELECT id FROM production_documents WHERE id > :after ORDER BY id LIMIT :most) AS batch"
)
# As the confirmation of a production writes them.
FILL = text("""
    INSERT INTO production_numbers (exhibit_id, import_id, production_id, seq, case_id, line_no, prefix, level,
      first_number, last_number, bates_begin, bates_end)
    SELECT d.exhibit_id, 0, d.production_id, 0, p.case_id, 0, CONVERT(p.prefix USING utf8mb4),
      IF(d.last_number = d.first_number, 0, CHAR_LENGTH(BIN(d.last_number - d.first_number))),
      d.first_number, d.last_number, CONCAT(p.prefix, LPAD(d.first_number, p.digits, '0')),
      CONCAT(p.prefix, LPAD(d.last_number, p.digits, '0'))
    FROM production_documents AS d JOIN productions AS p ON p.id = d.production_id
    JOIN exhibits AS e ON e.id = d.exhibit_id
    WHERE d.id > :after AND d.id <= :last AND d.status = 'produced'
    ON DUPLICATE KEY UPDATE exhibit_id = production_numbers.exhibit_id
""")


def upgrade() -> None:
    """Create the table, and fill it; a migration that was interrupted is completed."""
    op.execute(TABLE)
    fill(op.get_bind(), ROWS_PER_BATCH)


def fill(connection: Connection, most: int) -> None:
    """Claim the numbers of all produced documents, and commit after each `most` of them."""
    after = 0
    while (last := connection.execute(END_OF_BATCH, {"after": after, "most": most}).scalar()) is not None:
        connection.execute(FILL, {"after": after, "last": last})
        connection.commit()
        after = last
