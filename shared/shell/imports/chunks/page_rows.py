"""What the rows of a chunk state of pages, for the reconciliation with the image load file of their volume.

Guaranteed: it is what the file says, also for documents that are unchanged or overlaid, in a check as in an import.
"""

from __future__ import annotations

from core.checks.fact_columns import FactColumns
from core.checks.page_facts import pack_rows
from core.load_file.layout import Layout
from shell.imports.chunks.results import RowResults


def pack_page_rows(layout: Layout, results: RowResults) -> bytes | None:
    """Return what the accepted rows state; None if the file has neither the ends of ranges nor page counts."""
    columns = FactColumns.find(layout)
    if not columns.states_pages:
        return None
    return pack_rows(
        columns.read_pages(row.source.line_no, str(row.control_number), row.source.cells or ())
        for row in results.list_accepted()
    )
