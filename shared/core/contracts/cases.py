"""Models of cases."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from core.contracts.common import FileName, NextCursor, RequestModel, ResponseModel, UtcTimestamp


class NewCase(RequestModel):
    """A case to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Smith v. Jones"}]})

    name: FileName = Field(description="The name of the case; the tenant has no case with it yet.")


class Case(ResponseModel):
    """A legal matter of the tenant."""

    id: int
    name: str
    created_at: UtcTimestamp


class CaseSummary(Case):
    """A case in a list, with the numbers of its documents and imports."""

    imports: int = Field(description="The number of its imports, whatever their status, and of its checks.")
    documents: int = Field(description="The number of its documents, which imports create and undos remove.")
    last_import_at: UtcTimestamp | None = Field(description="When its last import was created or last retried.")


class CasePage(ResponseModel):
    """A page of cases, in the byte order of their names."""

    items: list[CaseSummary]
    next: NextCursor
