"""What is done after the commit of the local storage: a fault of one action does not lose the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.storage.storage import Storage


def test_an_action_that_fails_does_not_lose_the_delivery_of_a_message(tmp_path: Path) -> None:
    done = list[str]()

    def fail() -> None:
        raise OSError("the disk is full")

    def commit() -> None:
        with storage.index.transaction():
            storage.index.after_commit(fail)
            storage.index.after_commit(lambda: done.append("delivered"))

    storage = Storage(tmp_path)
    with pytest.raises(OSError, match="full"):
        commit()
    storage.close()
    assert done == ["delivered"]
