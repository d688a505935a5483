"""Exhibits have a confidentiality, of which earlier versions made a property if a file had one.

It stays NULL in existing rows. The previous release neither reads nor writes it.
"""

from __future__ import annotations

from shell.migrations.exhibit_list import add_text, replace_exhibit_list

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Add the column, and replace the view."""
    add_text("confidentiality", "The designation under a protective order, such as Confidential")
    replace_exhibit_list(["confidentiality"])
