"""Models of the caller and of other users."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.contracts.common import ResponseModel, UtcTimestamp
from core.roles import Role


class Limits(ResponseModel):
    """The limits of requests, for clients that check before they send."""

    max_file_bytes: int = Field(description="The size of the largest load file.")
    single_put_bytes: int = Field(description="From this size on, a file must be uploaded in parts.")
    part_bytes: int = Field(description="The size of a part, unless the file would have too many.")
    max_page: int = Field(description="The most items of a page of a list.")
    max_batch: int = Field(description="The most objects that one request may create.")


class Me(ResponseModel):
    """The caller, as the token and the settings of the deployment say, and what requests may have."""

    user_id: str
    user_name: str | None = Field(description="The name in the token; null if it has none.")
    tenant_id: str
    role: Role = Field(description="The most powerful role of the token, or the default role.")
    cases: list[str] | None = Field(
        description="The names of the only cases that exist for the caller, sorted; null if the token sets no limit."
    )
    token_expires_at: UtcTimestamp | None = Field(description="When the token expires; null if it does not say.")
    limits: Limits
    version: str = Field(description="The version of this API.")
    charset: Literal["utf8mb3", "utf8mb4"] = Field(
        description="The character set of the names of custodians and tags; utf8mb3 has no characters above U+FFFF."
    )


class NamedUser(ResponseModel):
    """A user and the name that the user's tokens had last."""

    user_id: str
    name: str


class UserList(ResponseModel):
    """The users of a request that are known by name, in the order of their ids."""

    items: list[NamedUser]
