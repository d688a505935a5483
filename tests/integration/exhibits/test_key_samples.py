"""Samples of the list of exhibits: control numbers from which its pages begin, of the case or of what matches."""

from __future__ import annotations

from typing import Any

import pytest

from core.contracts.exhibit_queries import ExhibitKeysQuery
from core.errors import InvalidInputError
from shell.exhibits import matches, search
from shell.exhibits.commands import add_taggings
from shell.exhibits.listing import sample_keys
from tests.integration.exhibits.exhibit_requests import CALLER, tagging
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases

COUNT = 25


def sample(**query: Any) -> list[str]:
    """All keys, read in responses of as many as `limit` says."""
    keys: list[str] = []
    after: dict[str, str] = {}
    while True:
        read = sample_keys(CALLER, ExhibitKeysQuery.model_validate({"case": "Case", **query, **after}))
        keys += read.items
        if read.next is None:
            return keys
        after = {"after": read.next}
        query.pop("from", None)


@pytest.fixture
def tagged(cases: Cases) -> list[str]:
    """The numbers of the exhibits with a tag, every other one; another case has exhibits between them."""
    ids = cases.exhibits(COUNT)
    cases.exhibits(COUNT, "Case-0")
    done(add_taggings, CALLER, tagging(ids[::2], "Hot"))
    return [f"Case-{number:06}" for number in range(0, COUNT, 2)]


@pytest.mark.parametrize("every", [1, 4, 12, COUNT, 100])
def test_every_nth_control_number_is_sampled_whatever_the_limit(tagged: list[str], every: int) -> None:
    whole = [f"Case-{number:06}" for number in range(COUNT)]
    for limit in (1, 3, 500):
        assert sample(every=every, limit=limit) == whole[::every]
        assert sample(every=every, limit=limit, tag="Hot") == tagged[::every]
    assert sample(every=every, **{"from": "Case-0000035"}) == whole[4::every]
    assert sample(every=every, tag="Hot", **{"from": "Case-000003"}) == tagged[2::every]


def test_a_response_with_filters_covers_no_more_than_a_search_may(
    tagged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_SEARCHED", 6)
    monkeypatch.setattr(matches, "FEW", 1)
    first = sample_keys(CALLER, ExhibitKeysQuery.model_validate({"case": "Case", "tag": "Hot", "every": 3}))
    # Three of six documents have the tag.
    assert (first.items, first.next is None) == (tagged[:1], False)
    assert sample(every=3, tag="Hot") == tagged[::3]


def test_nothing_matches_a_name_that_the_case_does_not_have(tagged: list[str]) -> None:
    assert sample(tag="Cold") == []
    with pytest.raises(InvalidInputError, match="cursor"):
        sample(after="none")
