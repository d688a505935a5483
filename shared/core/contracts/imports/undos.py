"""Models of undoing imports. Counts are documents and links, times are UTC."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from core.codes import KeptCode
from core.contracts.common import (
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    UserName,
)
from core.exhibit_history import Kind
from core.statuses import UndoStatus


class UndoRequest(RequestModel):
    """How to undo an import."""

    dry_run: bool = Field(default=False, description="Find out what the undo would do, and change nothing.")


class KeptReason(ResponseModel):
    """Why documents, or values or links of them, are kept."""

    code: KeptCode = Field(description="docs/correcting-a-load.md explains each code.")
    documents: int


class OtherImport(ResponseModel):
    """Another import of the case, and the number of documents it concerns."""

    import_id: int
    documents: int


class UnchangedBy(OtherImport):
    """Another import of the case, whose rows found documents unchanged which the undo removed or changed."""

    at_most: bool = Field(
        description="True if the import was made by an earlier version, which did not record the unchanged documents. "
        "`documents` is then an upper bound."
    )


class Undo(ResponseModel):
    """An undo of an import, or a dry run of one."""

    import_id: int
    undo_no: int | None = Field(description="The number of the undo of this import; null if there is nothing to undo.")
    status: UndoStatus = Field(description="For a dry run, what the undo would end as.")
    dry_run: bool
    restored: int = Field(description="The documents of which values or links were restored.")
    removed: int = Field(description="The documents that were removed.")
    kept: int = Field(description="The documents that were kept, or of which a value or link was.")
    links_restored: int = Field(description="The links to custodians and tags that were made again.")
    parts: int = Field(description="The parts of the undo, one for each chunk of the file; 0 until it runs.")
    parts_left: int = Field(description="The parts that are neither done nor failed.")
    reasons: list[KeptReason] = Field(description="Why something was kept, with the number of documents.")
    found_unchanged_by: list[UnchangedBy] = Field(
        description="Imports of the case, 20 at most, whose rows found documents unchanged which the undo removed or "
        "changed, with the number of these documents. Import their files again if the case is to have these rows."
    )
    stated_by: list[OtherImport] = Field(
        description="Imports of the case, 20 at most, that state a value, custodian or tag which this import had set, "
        "with the number of documents. It stays, as it would be without this import; this is not a conflict."
    )
    unrecorded_by: list[OtherImport] = Field(
        description="At most 20 imports of the case that changed restored documents later and were made by an earlier "
        "version, which did not record the values that a row repeats. If such a value is missing, import their files "
        "again."
    )
    report: str | None = Field(description="The URL of a CSV file of all that was kept; null until it is written.")
    created_at: datetime | None
    finished_at: datetime | None


class KeptItem(ResponseModel):
    """A document that was kept, or a value or link of one."""

    line: int = Field(description="The line of the import's file.")
    exhibit_id: int
    control_number: str
    code: KeptCode
    kind: Kind | None = Field(description="What `name` is; null if the whole document was kept.")
    name: str | None = Field(description="The field, property, custodian or tag.")
    by_user: str | None = Field(description="The user whose change is the reason.")
    by_user_name: UserName
    by_import: int | None = Field(description="The import whose change is the reason.")
    by_production: int | None = Field(description="The production that has the document.")
    by_document: str | None = Field(description="The control number of an attachment that stays.")


class KeptPage(ResponseModel):
    """A page of what an undo kept, in the order of the file."""

    items: list[KeptItem]
    next: NextCursor
    prev: PrevCursor
