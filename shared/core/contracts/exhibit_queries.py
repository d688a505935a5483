"""Query parameters of the list of exhibits and of the list of an exhibit's files; selections by the same filters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from core.bates_numbers import parse_bates_number
from core.contracts.common import RequestModel, with_fields
from core.contracts.pages import Boolean, CountedQuery, OneCaseQuery, QueryId, require_digits, require_few_words
from core.exhibit_fields import FILTERED_TEXTS, Filter, TextField
from core.timestamps import FIRST_YEAR, LAST_YEAR

# Each is a join of its own.
MAX_NAMES = 10
# Of exhibits that a selection names one by one.
MAX_IDS = 1_000
# A value of a parameter that may be repeated has this noncharacter instead of a comma: API Gateway joins the values by
# commas (Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs"), and Powertools splits them again.
COMMA = "\ufdd0"
# Parameters that may be repeated, of any route.
REPEATABLE = frozenset({"custodian", "tag", "tagTree"})
Included = Literal["custodians", "tags"]


def _parse_day(value: object) -> object:
    """Return the day. Raises ValueError for a text in another form than 2019-12-31."""
    if not isinstance(value, str):
        return value
    try:
        day = date.fromisoformat(value) if len(value) == 10 else None
    except ValueError:
        day = None
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"send a day such as 2019-12-31, between the years {FIRST_YEAR} and {LAST_YEAR}")
    return day


def _require_bates_number(value: str) -> str:
    parse_bates_number(value)
    return value


def _list_names(value: object) -> object:
    """Return the values of a parameter that may be repeated, each once; one is a list of one, None an empty list."""
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        return value
    return list(dict.fromkeys(each.replace(COMMA, ",") for each in values))


def _split_ids(value: object) -> object:
    """Return the ids in their order, each once. The value is a text such as `17,18`, or a list."""
    if isinstance(value, str):
        value = value.split(",")
    return list(dict.fromkeys(value)) if isinstance(value, list) and all(map(_is_id, value)) else value


def _is_id(value: object) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _split_include(value: object) -> object:
    if isinstance(value, str):
        value = value.split(",")
    return sorted(set(value)) if isinstance(value, list) and all(isinstance(each, str) for each in value) else value


_Day = Annotated[date, BeforeValidator(_parse_day), WithJsonSchema({"type": "string", "format": "date"})]
_Words = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(require_few_words)]
_Whole = Annotated[str, StringConstraints(min_length=1, max_length=255)]
_Bates = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_require_bates_number)]
_Tag = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_Custodians = Annotated[list[_Whole], BeforeValidator(_list_names), Field(max_length=MAX_NAMES)]
_Tags = Annotated[list[_Tag], BeforeValidator(_list_names), Field(max_length=MAX_NAMES)]
_Ids = Annotated[list[QueryId], BeforeValidator(_split_ids), Field(max_length=MAX_IDS)]
# None at all is a mistake of a client: it would mean the whole case.
_OneOrMoreIds = Annotated[list[QueryId], BeforeValidator(_split_ids), Field(min_length=1, max_length=MAX_IDS)]
_Include = Annotated[list[Included], BeforeValidator(_split_include)]


def _describe_filter(text: TextField) -> tuple[Any, Any]:
    name = text.name.replace("_", " ")
    if text.filter is Filter.WORDS:
        description = f"Words that the {name} contains, all of them, in any order and also as a part of other words."
        return _Words | None, Field(default=None, description=description)
    description = f"Only exhibits with this {name}; the database decides which texts are equal."
    return _Whole | None, Field(default=None, description=description)


def check_ranges(query: Any) -> None:
    """Raise ValueError if a range of the filters of exhibits ends before it begins."""
    if query.date_from and query.date_to and query.date_from > query.date_to:
        raise ValueError("dateTo must not be before dateFrom")
    if query.bates_from and query.bates_to:
        first, last = parse_bates_number(query.bates_from), parse_bates_number(query.bates_to)
        if first.prefix != last.prefix or first.number > last.number:
            raise ValueError("batesTo must have the prefix of batesFrom and not be below it")


@with_fields({text.name: _describe_filter(text) for text in FILTERED_TEXTS})
class ExhibitQuery(OneCaseQuery, CountedQuery):
    """The filters of the list of exhibits, and the place of the page in it. All given conditions must hold."""

    first: _Whole | None = Field(
        default=None,
        alias="from",
        description="Begin with the first exhibit whose control number is this one or after it in the list's order.",
    )
    include: _Include = Field(
        default_factory=list,
        description="What the items have besides: `custodians`, `tags`, or both, separated by a comma.",
    )
    custodian: _Custodians = Field(
        default_factory=list, description="Only exhibits of this custodian; repeat it for exhibits of all of several."
    )
    tag: _Tags = Field(
        default_factory=list, description="Only exhibits with this tag; repeat it for exhibits with all of several."
    )
    tag_tree: _Tags = Field(
        default_factory=list,
        description=r"Only exhibits with this tag or one that is nested in it, as `Hot\Really Hot` is in `Hot`; repeat "
        "it for exhibits with one of each of several.",
    )
    without_tag: _Tag | None = Field(default=None, description="Only exhibits without this tag.")
    ids: _OneOrMoreIds = Field(
        default_factory=list, description="Only the exhibits with these ids, separated by commas; a list in a body."
    )
    except_ids: _Ids = Field(
        default_factory=list, description="Not the exhibits with these ids, separated by commas; a list in a body."
    )
    control_number: _Whole | None = Field(default=None, description="Only the exhibit with this control number.")
    parent: _Whole | None = Field(
        default=None, description="Only attachments of the exhibit with this control number, however they state it."
    )
    family: _Whole | None = Field(
        default=None, description="Only the family of the exhibit with this control number, itself included."
    )
    import_id: QueryId | None = Field(default=None, description="Only exhibits that this import created.")
    changed_by_import: QueryId | None = Field(default=None, description="Only exhibits that this import overlaid.")
    date_from: _Day | None = Field(default=None, description="Only exhibits with a date on this day (UTC) or later.")
    date_to: _Day | None = Field(default=None, description="Only exhibits with a date on this day (UTC) or earlier.")
    bates_from: _Bates | None = Field(
        default=None,
        description="Only exhibits with a Bates range, their own or another that they were delivered under, that has "
        "this prefix and reaches this number; zeros do not matter.",
    )
    bates_to: _Bates | None = Field(
        default=None,
        description="Only exhibits with such a range that has this prefix and begins at this number or a lower one.",
    )
    has_native: Boolean | None = Field(
        default=None,
        description="Whether the exhibit has a native: the path of one and, if a volume was to have it, the file.",
    )
    has_text: Boolean | None = Field(default=None, description="Whether the exhibit has a text, likewise, or in cells.")
    has_images: Boolean | None = Field(default=None, description="Whether the exhibit has pages of an image load file.")

    @model_validator(mode="after")
    def _has_ranges(self) -> Self:
        check_ranges(self)
        return self

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if sum(each is not None for each in (self.after, self.before, self.first)) > 1:
            raise ValueError("send one of after, before and from")
        return self

    def list_filters(self) -> Iterator[str]:
        """Yield the names of the filters that are given."""
        for name in sorted(type(self).model_fields.keys() - _NO_FILTERS):
            if getattr(self, name) not in (None, []):
                yield name


_NO_FILTERS = {"case", "case_id", "limit", "after", "before", "first", "order", "count", "include"}


def list_filter_fields() -> dict[str, tuple[Any, Any]]:
    """Return the filters by name, as fields of another model: each a type and a default."""
    fields = {name: field for name, field in ExhibitQuery.model_fields.items() if name not in _NO_FILTERS}
    return {name: (field.rebuild_annotation(), field) for name, field in fields.items()}


@with_fields(list_filter_fields())
class ExhibitSelection(RequestModel):
    """A selection of a case's exhibits by the filters of `GET /exhibits`.

    All given conditions must hold; without a condition, it selects all exhibits.
    """

    @model_validator(mode="after")
    def _has_ranges(self) -> Self:
        check_ranges(self)
        return self


@with_fields(list_filter_fields())
class ExhibitKeysQuery(OneCaseQuery):
    """The filters of the list of exhibits, and which of its control numbers are sampled."""

    first: _Whole | None = Field(
        default=None,
        alias="from",
        description="Begin with the first exhibit whose control number is this one or after it; instead of `after`.",
    )
    every: Annotated[int, BeforeValidator(require_digits)] = Field(
        default=500, ge=1, le=5_000, description="How many exhibits lie between one item and the next."
    )

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if self.after is not None and self.first is not None:
            raise ValueError("send after or from, not both")
        check_ranges(self)
        return self

    def select(self) -> ExhibitQuery:
        """Return the query of the list with the same case and filters."""
        names = ("case", "case_id", *list_filter_fields())
        return ExhibitQuery.model_construct(**{name: getattr(self, name) for name in names})
