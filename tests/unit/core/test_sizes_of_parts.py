"""How large the parts of an upload are."""

from __future__ import annotations

from core.contracts.imports.uploads import MIN_BYTES_IN_PARTS, choose_part_bytes


def test_parts_are_of_16_to_100_mb_and_few() -> None:
    assert choose_part_bytes(MIN_BYTES_IN_PARTS - 1, in_parts=True) is None
    assert choose_part_bytes(MIN_BYTES_IN_PARTS) is None
    for size in (MIN_BYTES_IN_PARTS, 3 * 10**9, 40 * 10**9, 10**11):
        part = choose_part_bytes(size, in_parts=True)
        assert part is not None
        assert 16_000_000 <= part <= 100_000_000
        assert -(-size // part) <= 1_000
    assert choose_part_bytes(10**12, in_parts=True) == choose_part_bytes(10**12) == 10**9
