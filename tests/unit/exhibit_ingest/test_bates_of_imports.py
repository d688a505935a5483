"""The Bates numbers in the summary of an import, where the stack has no answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.importing.bates import read_bates

STATE: Any = SimpleNamespace(id=1, failed=False, status="completed", details={"columns": [{"field": "bates_begin"}]})


def session(status: int) -> Any:
    """A stack that answers with the status."""

    def request(*_: object) -> NoReturn:
        raise ApiError("later", status, {})

    return SimpleNamespace(api=SimpleNamespace(request=request))


def test_an_import_that_has_ended_does_not_fail_for_want_of_its_numbers() -> None:
    assert read_bates(session(503), STATE) is None
    with pytest.raises(ApiError):
        read_bates(session(404), STATE)
