"""What a code means and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """What a code means, and what to do about it, in plain English; both may have the marks of Markdown."""

    meaning: str
    advice: str

    @property
    def plain_meaning(self) -> str:
        """Return the meaning without marks, for a terminal or a file."""
        return _strip_marks(self.meaning)

    @property
    def plain_advice(self) -> str:
        """Return the advice without marks, for a terminal or a file."""
        return _strip_marks(self.advice)


def _strip_marks(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "")
