"""What the application logged, read as it was written."""

from __future__ import annotations

import io
import json
from typing import Any


class Log:
    """What the application's logger wrote."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    def lines(self) -> list[dict[str, Any]]:
        """Each line as the object that it is."""
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def messages(self) -> list[str]:
        """What each line says."""
        return [line["message"] for line in self.lines()]
