"""Models of cases, and of the names that belong to them: their custodians and tags."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from core.contracts.common import (
    FileName,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    Total,
    UtcTimestamp,
)


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
    open_rejections: int = Field(
        description="The rejected rows that are neither corrected nor discarded: the sum of those of its imports."
    )
    last_import_at: UtcTimestamp | None = Field(description="When its last import was created or last retried.")


class CasePage(ResponseModel):
    """A page of cases, in the byte order of their names or by their last imports."""

    items: list[CaseSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class SimilarCases(ResponseModel):
    """The case with a name, and those whose names it may be a misspelling of, the most similar first."""

    exact: CaseSummary | None = Field(description="The case with exactly this name, compared character by character.")
    similar: list[CaseSummary] = Field(description="Up to 5 other cases.")


class TagSummary(ResponseModel):
    """A tag of a case."""

    id: int
    name: str = Field(description="The name; of a nested tag, its full path.")
    documents: int = Field(description="The number of documents that have the tag.")


class TagPage(ResponseModel):
    """A page of tags, in the order of their names according to the database's collation."""

    items: list[TagSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class CustodianSummary(ResponseModel):
    """A custodian, and the case that it belongs to."""

    id: int
    name: str
    case_id: int
    case: str = Field(description="The name of the case.")
    documents: int = Field(description="The number of documents that the custodian held.")


class CustodianPage(ResponseModel):
    """A page of custodians, in the order of their names according to the database's collation."""

    items: list[CustodianSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None
