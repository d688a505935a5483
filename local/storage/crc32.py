"""Join the CRC-32 of two byte strings into that of both, without their bytes."""

from __future__ import annotations

from functools import lru_cache, reduce

_POLYNOMIAL = 0xEDB88320
_BITS = range(32)
_Matrix = tuple[int, ...]


def join_crc32(first: int, second: int, size: int) -> int:
    """Return the CRC-32 of two byte strings, of which the second has `size` bytes."""
    return _apply(_shift(size), first) ^ second


@lru_cache(maxsize=64)
def _shift(size: int) -> _Matrix:
    """Return the matrix over GF(2) that moves a register on by `size` zero bytes."""
    result: _Matrix = tuple(1 << bit for bit in _BITS)
    power = reduce(lambda matrix, _: _multiply(matrix, matrix), range(3), _one_bit())
    while size:
        result = _multiply(power, result) if size & 1 else result
        power = _multiply(power, power)
        size >>= 1
    return result


def _one_bit() -> _Matrix:
    return (_POLYNOMIAL, *(1 << bit - 1 for bit in _BITS if bit))


def _multiply(left: _Matrix, right: _Matrix) -> _Matrix:
    return tuple(_apply(left, column) for column in right)


def _apply(matrix: _Matrix, vector: int) -> int:
    return reduce(int.__xor__, (matrix[bit] for bit in _BITS if vector >> bit & 1), 0)
