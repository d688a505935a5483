"""The digest of what a purge destroys is that of the items and their order, not of batches."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from core.purges.digests import Tally, combine, format_item
from core.purges.phases import PurgePhase

ITEMS = st.lists(st.tuples(st.integers(), st.text(), st.binary()), min_size=1, max_size=20)


@given(ITEMS, st.integers(0, 20))
def test_batches_do_not_change_the_digest(items: list[tuple[int, str, bytes]], cut: int) -> None:
    whole = Tally().add(items, 7)
    assert Tally().add(items[:cut], 3).add(items[cut:], 4) == whole
    assert (whole.total, whole.size) == (len(items), 7)


@given(ITEMS)
def test_an_item_more_less_or_changed_changes_it(items: list[tuple[int, str, bytes]]) -> None:
    digest = Tally().add(items).digest
    assert Tally().add([*items, (1, "", b"")]).digest != digest
    assert Tally().add(items[1:]).digest != digest
    assert Tally().add([(items[0][0] + 1, *items[0][1:]), *items[1:]]).digest != digest


def test_the_chain_is_as_the_documentation_says() -> None:
    first = hashlib.sha256(bytes(32) + b'[1, "\xc3\xa9", "ff"]').digest()
    assert format_item((1, "é", b"\xff")) == b'[1, "\xc3\xa9", "ff"]'
    assert Tally().add([(1, "é", b"\xff"), (2,)]).digest == hashlib.sha256(first + b"[2]").digest()


def test_the_order_of_tallies_does_not_change_the_digest_of_all() -> None:
    tallies = [("rows", "tags", Tally().add([(1,)])), ("rows", "exhibits", Tally())]
    assert combine(tallies) == combine(reversed(tallies))
    assert combine(tallies) != combine(tallies[:1])


def test_the_phases_follow_each_other_to_the_end() -> None:
    phases, phase = [PurgePhase.FENCE], PurgePhase.FENCE
    while phase is not phase.next:
        phase = phase.next
        phases.append(phase)
    assert phases == list(PurgePhase)
