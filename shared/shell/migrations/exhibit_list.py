"""The view `exhibit_list` since migration 0025; the text of earlier migrations is their own.

What a migration gets here must stay what it got: a change of the view is another function.
"""

from __future__ import annotations

from collections.abc import Sequence

from alembic import op
from sqlalchemy import inspect

# INSTANT, as in 0023. A column without a character set has that of the table.
_ADD_TEXT = """
    ALTER TABLE exhibits ADD COLUMN {name} VARCHAR(1024) COMMENT '{comment}', ALGORITHM=INSTANT
"""
# Names are complete, or the statement fails: a list that the server truncated at group_concat_max_len is shorter than
# its names together, and then the addition overflows. The message of that error, 1690, shows the text below.
_NAMES = """(
        SELECT CASE
          WHEN CHAR_LENGTH({joined}) = SUM(CHAR_LENGTH(named.name) + 2) - 2 THEN {joined}
          WHEN COUNT(*) > 0 THEN ~0 + LENGTH(CONCAT('raise group_concat_max_len', COUNT(*)))
        END
        FROM {links} AS link JOIN {names} AS named ON named.id = link.{key}
        WHERE link.exhibit_id = exhibit.id
      )"""
_JOINED = "GROUP_CONCAT(named.name ORDER BY named.name, named.id SEPARATOR '; ')"
_CUSTODIANS = _NAMES.format(joined=_JOINED, links="custodian_exhibits", names="custodians", key="custodian_id")
_TAGS = _NAMES.format(joined=_JOINED, links="taggings", names="tags", key="tag_id")


def add_text(name: str, comment: str) -> None:
    """Add the column of a text to `exhibits`, unless a migration that was interrupted has added it."""
    if name not in {column["name"] for column in inspect(op.get_bind()).get_columns("exhibits")}:
        op.execute(_ADD_TEXT.format(name=name, comment=comment))


def replace_exhibit_list(texts: Sequence[str]) -> None:
    """Replace the view by one with these texts after its other columns, which keep their places.

    With the reader's own privileges: a reader needs SELECT on the tables too, and sees no more through the view.
    """
    added = "".join(f", exhibit.{name}" for name in texts)
    op.execute(
        f"""
    CREATE OR REPLACE SQL SECURITY INVOKER VIEW exhibit_list AS
    SELECT matter.tenant_id, exhibit.case_id, matter.name AS case_name, exhibit.id AS exhibit_id,
      exhibit.control_number, exhibit.bates_begin, exhibit.bates_end, exhibit.parent_control_number,
      exhibit.title, exhibit.file_name, exhibit.document_date,
      exhibit.date_sent, exhibit.date_received, exhibit.date_created, exhibit.date_modified,
      {_CUSTODIANS} AS custodians,
      {_TAGS} AS tags,
      exhibit.native_path, exhibit.text_path, exhibit.document_properties,
      exhibit.import_id, source.file_name AS import_file, exhibit.line_no AS import_line{added}
    FROM exhibits AS exhibit
    JOIN cases AS matter ON matter.id = exhibit.case_id
    JOIN imports AS source ON source.id = exhibit.import_id
"""  # noqa: S608 - literals
    )
