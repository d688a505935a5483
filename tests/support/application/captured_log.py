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

    def tenants(self) -> list[tuple[str, str | None]]:
        """What each line says, and the tenant that it names."""
        return [(line["message"], line.get("tenant_id")) for line in self.lines()]

    def messages(self) -> list[str]:
        """What each line says."""
        return [line["message"] for line in self.lines()]
