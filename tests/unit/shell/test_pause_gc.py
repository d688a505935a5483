"""Garbage is looked for again after the block, whatever happened in it."""

from __future__ import annotations

import gc

import pytest

from shell.lambda_handlers import pause_gc


def fail() -> None:
    assert not gc.isenabled()
    raise ValueError("broken")


def test_collection_pauses_for_the_block_alone_also_where_it_fails() -> None:
    with pytest.raises(ValueError, match="broken"), pause_gc():
        fail()
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with pause_gc():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
