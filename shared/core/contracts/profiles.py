"""Models of mapping profiles."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.contracts.common import (
    Name,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    RowId,
    Total,
    UserName,
    UtcTimestamp,
)
from core.contracts.imports.options import Options


class NewProfile(RequestModel):
    """A mapping profile, which `profile` of POST /imports names.

    With `importId`, it has the options of that import, those of `options` instead where they are given, and the columns
    as the import decided them, and is suggested for files with the same delimiter and header.
    """

    name: Name = Field(description="Unique within the tenant; names are compared character by character.")
    import_id: RowId | None = Field(default=None, description="An import whose file is split.")
    header_fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = Field(
        default=None,
        description="The `headerFingerprint` of a preview: the profile is suggested for files with it. By default that "
        "of the import, if there is one.",
    )
    # Without validation, which would build the validator when this module is imported.
    options: Options = Options.model_construct()


class Profile(ResponseModel):
    """A mapping profile."""

    id: int
    name: str
    version: int = Field(description="1, and one more with every change. Earlier versions are not kept.")
    options: Options
    header_fingerprint: str | None = Field(
        description="The hash of the delimiter and the header of the files that it is suggested for."
    )
    created_by: str
    created_by_name: UserName
    created_at: UtcTimestamp
    updated_by: str
    updated_by_name: UserName
    updated_at: UtcTimestamp


class ProfilePage(ResponseModel):
    """A page of mapping profiles, in the order of their names."""

    items: list[Profile]
    next: NextCursor
    prev: PrevCursor
    total: Total = None
