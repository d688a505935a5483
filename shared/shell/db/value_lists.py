"""Lists of values for conditions, short enough that every server finds each value by an index.

MariaDB turns an IN list of a thousand values into a join, which takes several times as long and locks rows in the order
of that join.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

VALUES_PER_LIST = 500


def split_values(values: Sequence[Any]) -> list[Sequence[Any]]:
    """Return the values in lists of at most 500."""
    return [values[start : start + VALUES_PER_LIST] for start in range(0, len(values), VALUES_PER_LIST)]
