"""The imports that the pages of an import were compared with, as `page_reconciliations.compared` has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple


class Source(NamedTuple):
    """An import that takes part, in a generation."""

    import_id: int
    generation: int
    kind: str


def write_sources(sources: Sequence[Source]) -> str:
    """Return the imports as JSON text for `read_sources`."""
    return json.dumps(sources)


def read_sources(stored: str | None) -> list[Source]:
    """Return the imports that `write_sources` wrote; none before a reconciliation has ended."""
    return [Source(*each) for each in json.loads(stored or "[]")]
