"""The record of a response: of exactly one request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.idempotency import KeyedRequest, KeyedResponse

REQUEST = KeyedRequest("t", "POST /x", "k", b"f" * 32)
RESPONSE = KeyedResponse(201, '{"id": 1}', {"location": "/x/1"})


def test_a_record_gives_the_response_back_to_its_own_request_alone() -> None:
    record = RESPONSE.as_replay().to_record(REQUEST)
    assert KeyedResponse.from_record(record, REQUEST) == RESPONSE
    assert KeyedResponse.from_record(record, replace(REQUEST, fingerprint=b"g" * 32)) is None


@pytest.mark.parametrize("record", ["", "[]", "null", "{}", f'{{"fingerprint": "{REQUEST.fingerprint.hex()}"}}'])
def test_any_other_record_is_none(record: str) -> None:
    assert KeyedResponse.from_record(record, REQUEST) is None
