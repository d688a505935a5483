"""Exhibits have the dates of four events, and say how precise each date is.

The columns come after the last one and may be NULL, so that the server adds them without rewriting the table (MySQL
Reference Manual, "Online DDL Operations": INSTANT). They stay NULL in existing rows.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0015"
down_revision = "0013"

ADD_COLUMNS = """
    ALTER TABLE exhibits
      ADD COLUMN date_sent DATETIME(6) COMMENT 'When it was sent, like document_date',
      ADD COLUMN date_received DATETIME(6) COMMENT 'When it was received',
      ADD COLUMN date_created DATETIME(6) COMMENT 'When the file was created',
      ADD COLUMN date_modified DATETIME(6) COMMENT 'When the file was last modified',
      ADD COLUMN document_date_source VARCHAR(13)
        COMMENT 'The column that document_date was taken from; NULL if it is a date of its own',
      ADD COLUMN date_precision VARCHAR(5)
        COMMENT 'The precision of each date, a letter for each: document, sent, received, created, modified'
"""

# Names are complete, or the statement fails: a list that the server truncated at group_concat_max_len is shorter than
# its names together, and then the addition overflows. The message of that error, 1690, shows the text below.
NAMES = """(
        SELECT CASE
          WHEN CHAR_LENGTH({joined}) = SUM(CHAR_LENGTH(named.name) + 2) - 2 THEN {joined}
          WHEN COUNT(*) > 0 THEN ~0 + LENGTH(CONCAT('raise group_concat_max_len', COUNT(*)))
        END
        FROM {links} AS link JOIN {names} AS named ON named.id = link.{key}
        WHERE link.exhibit_id = exhibit.id
      )"""
JOINED = "GROUP_CONCAT(named.name ORDER BY named.name, named.id SEPARATOR '; ')"
CUSTODIANS = NAMES.format(joined=JOINED, links="custodian_exhibits", names="custodians", key="custodian_id")
TAGS = NAMES.format(joined=JOINED, links="taggings", names="tags", key="tag_id")

# With the reader's own privileges: a reader needs SELECT on the tables too, and sees no more through the view.
EXHIBIT_LIST = f"""
    CREATE OR REPLACE SQL SECURITY INVOKER VIEW exhibit_list AS
    SELECT matter.tenant_id, exhibit.case_id, matter.name AS case_name, exhibit.id AS exhibit_id,
      exhibit.control_number, exhibit.bates_begin, exhibit.bates_end, exhibit.parent_control_number,
      exhibit.title, exhibit.file_name, exhibit.document_date,
      exhibit.date_sent, exhibit.date_received, exhibit.date_created, exhibit.date_modified,
      {CUSTODIANS} AS custodians,
      {TAGS} AS tags,
      exhibit.native_path, exhibit.text_path, exhibit.document_properties,
      exhibit.import_id, source.file_name AS import_file, exhibit.line_no AS import_line
    FROM exhibits AS exhibit
    JOIN cases AS matter ON matter.id = exhibit.case_id
    JOIN imports AS source ON source.id = exhibit.import_id
"""  # noqa: S608


def upgrade() -> None:
    """Add the columns, unless a migration that was interrupted has added them, and replace the view."""
    columns = inspect(op.get_bind()).get_columns("exhibits")
    if "date_sent" not in {column["name"] for column in columns}:
        op.execute(ADD_COLUMNS)
    op.execute(EXHIBIT_LIST)
