"""The styles of a page of the console stay loaded when it is left: no selector matches on another feature's page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local.stack.options import REPOSITORY

FILES = sorted((REPOSITORY / "console" / "src" / "features").glob("*/*.css"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_styles_of_a_feature_are_for_its_pages_alone(file: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    lists = [each.strip() for each in re.findall(r"([^{}]+)\{", text) if not each.strip().startswith("@")]
    selectors = [selector.strip() for each in lists for selector in each.split(",\n")]
    assert selectors
    assert [each for each in selectors if not each.startswith(f".{file.parent.name}")] == []
