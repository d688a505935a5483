"""Models of the texts of exhibits."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import ResponseModel


class ExhibitText(ResponseModel):
    """A part of the text that the cells of a load file have of an exhibit, up to 500,000 bytes of UTF-8."""

    text: str
    byte_start: int = Field(description="Where the part begins in the text, in bytes of UTF-8 from 0.")
    byte_len: int = Field(description="How many bytes of UTF-8 the whole text has.")
    sha256: str = Field(description="SHA-256 of the whole text in UTF-8, in hexadecimal digits.")
    import_id: int = Field(description="The import whose row has the text.")
    line: int = Field(description="The line of the row in the load file.")
    next_start: int | None = Field(description="The `start` of the next part; null at the end.")
