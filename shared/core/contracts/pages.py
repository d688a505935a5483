"""Query parameters that lists share: the page, the direction, the count, and the case."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from core.contracts.common import MAX_ID, MAX_PAGE, ApiModel
from core.pagination import Order

MAX_WORDS = 10


def require_digits(value: object) -> object:
    """Return the value. Raises ValueError for text such as `1_0` or ` 10 `, which Python reads as ten."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("send a number that consists of digits only")
    return value


def parse_boolean(value: object) -> object:
    """Return the value. Raises ValueError for `yes`, `1` and others, of which there are too many to document."""
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError("send true or false")
    return value


def require_few_words(value: str) -> str:
    """Return the text. Raises ValueError unless it has 1 to MAX_WORDS words."""
    if not 1 <= len(value.split()) <= MAX_WORDS:
        raise ValueError(f"send 1 to {MAX_WORDS} words")
    return value


QueryId = Annotated[int, BeforeValidator(require_digits), Field(ge=1, le=MAX_ID)]
Boolean = Annotated[bool, BeforeValidator(parse_boolean)]


class PageQuery(ApiModel):
    """The page of a list."""

    limit: Annotated[int, BeforeValidator(require_digits)] = Field(
        default=100, ge=1, le=MAX_PAGE, description="The maximum number of items on the page."
    )
    after: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="The value of `next` from the previous page; omit it for the first page.",
    )


class ListQuery(PageQuery):
    """The page of a list that can be read in both directions."""

    before: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="The value of `prev` from a page, for the page before it; instead of `after`.",
    )
    order: Order = Field(default="asc", description="Whether the list ascends or descends.")

    @model_validator(mode="after")
    def _has_one_cursor(self) -> Self:
        if self.after is not None and self.before is not None:
            raise ValueError("send after or before, not both")
        return self


class CountedQuery(ListQuery):
    """The page of a list that can be counted."""

    count: Boolean = Field(default=False, description="Whether the page has the `total` of the list.")


class NewestFirst(ListQuery):
    """The page of a list that begins with the newest."""

    order: Order = Field(default="desc", description="desc: the newest first; asc: the oldest first.")


class AnyCaseQuery(PageQuery):
    """The case of a list, if it is to be of one case."""

    case: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only those of the case with this name."
    )
    case_id: QueryId | None = Field(default=None, description="Only those of the case with this id; instead of `case`.")

    @model_validator(mode="after")
    def _has_one_case(self) -> Self:
        if self.case is not None and self.case_id is not None:
            raise ValueError("send case or caseId, not both")
        return self


class OneCaseQuery(AnyCaseQuery):
    """The case of a list, by its name or by its id."""

    @model_validator(mode="after")
    def _has_a_case(self) -> Self:
        if self.case is None and self.case_id is None:
            raise ValueError("send case, the name of the case, or caseId")
        return self
