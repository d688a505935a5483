"""The page of activities has words for everything that the application records."""

from __future__ import annotations

import re

from local.stack.options import REPOSITORY
from shell.activity_log import ActKind

WORDS = REPOSITORY / "console" / "src" / "features" / "activity" / "words.ts"


def test_every_action_has_its_words() -> None:
    named = re.findall(r'^  "([a-z_]+\.[a-z_]+)": ".*%', WORDS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(each.value for each in ActKind)
