"""The model of a range of Bates numbers that a document was delivered under."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import ResponseModel


class ProductionNumber(ResponseModel):
    """A range of Bates numbers that a document was delivered under, and who says so."""

    bates_begin: str
    bates_end: str | None
    label: str | None = Field(description="The volume or producing party that the load file states.")
    import_id: int | None = Field(description="The import whose file states it; null for other sources.")
    line: int | None = Field(description="The line of that file.")
    production_id: int | None = Field(description="The production of this case that assigned it.")
