"""What a user can choose from is what the options accept, and what a preview would then find."""

from __future__ import annotations

import pytest

from core.imports.findings import list_choices
from core.load_file.options import parse_options


@pytest.mark.parametrize("option", ["encoding", "delimiter", "qualifier", "newline"])
def test_each_choice_is_an_option_that_gives_what_is_found(option: str) -> None:
    choices = list_choices()[option]
    assert len({each.value for each in choices}) == len({each.label for each in choices}) == len(choices)
    for each in choices:
        given = getattr(parse_options({option: each.value}), option)
        assert (given or None) == each.found
