"""One round of every fault: the import goes on by itself, and is exact in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.recovery import FAULTS, format_table, ordeal


@pytest.mark.slow
def test_an_import_goes_on_after_every_fault(tmp_path: Path) -> None:
    with ordeal(tmp_path, seed=1, rows=240) as under:
        under.round()
        under.end()
    assert under.findings == []
    assert [each.fault for each in under.recovered] == list(FAULTS)
    assert all(0 < each.after_writable < each.after_fault for each in under.recovered)
    assert all(fault in format_table(under.recovered) for fault in FAULTS)
