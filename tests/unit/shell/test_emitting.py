"""Counts that two threads emit at once, as while a chunk is written and the next one is prepared."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from shell.observability import emit_counts

TIMES = 2_000


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that take turns after every few instructions."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("impatient")
def test_what_two_threads_count_is_emitted_once_and_without_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    def emit(name: str) -> None:
        for _ in range(TIMES):
            emit_counts(**{name: 1})

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(emit, ("TransactionsRetried", "RowsImported")))
    counted: Counter[str] = Counter()
    for line in capsys.readouterr().out.splitlines():
        emitted = json.loads(line)
        counted.update({name: len(emitted.get(name, ())) for name in ("TransactionsRetried", "RowsImported")})
    assert counted == {"TransactionsRetried": TIMES, "RowsImported": TIMES}
