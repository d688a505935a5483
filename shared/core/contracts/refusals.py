"""The refusal of corrections, which names each row."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import InvalidInputError


class CorrectionRefusedError(InvalidInputError):
    """Rows cannot be corrected or discarded; nothing was changed, so send the others without them.

    `refusals` has the place in the request and the reason of each row, in the order of the request.
    """

    def __init__(self, refusals: Sequence[tuple[str, str]]) -> None:
        more = f" {len(refusals) - 1} more rows are refused; see `errors`." if len(refusals) > 1 else ""
        super().__init__(f"{refusals[0][1]}{more} Nothing was changed.")
        self.refusals = tuple(refusals)
