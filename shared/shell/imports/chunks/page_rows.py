"""What the rows of a chunk state of pages, for the reconciliation with the image load file of their volume.

Guaranteed: it is what the file says, also for documents that are unchanged or overlaid, in a check as in an import.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.checks.fact_columns import FactColumns
from core.checks.page_facts import PageRow, pack_rows
from core.imports.production_columns import ProductionColumns
from core.load_file.layout import Layout
from shell.imports.chunks.results import RowResults


def pack_page_rows(layout: Layout, results: RowResults) -> bytes | None:
    """Return what the accepted rows state; None if the file has neither the ends of ranges nor page counts."""
    columns, numbers = FactColumns.find(layout), ProductionColumns.find(layout)
    if not (columns.states_pages or numbers.states_pages):
        return None
    return pack_rows(
        stated
        for row in results.list_accepted()
        for stated in _read(
            columns.read_pages(row.source.line_no, str(row.control_number), row.source.cells or ()),
            numbers,
            row.source.cells or (),
        )
    )


def _read(own: PageRow, numbers: ProductionColumns, cells: Sequence[str]) -> Iterator[PageRow]:
    """Yield what a row states with its range, and with each other range that it has."""
    yield own
    for seq, begin, end, _ in numbers.read_others(cells):
        yield own._replace(bates_begin=begin, bates_end=end or "", seq=seq)
