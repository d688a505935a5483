"""Why the undo of an import keeps something."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import KeptCode
from core.explanations.explanation import Explanation

KEPT: Mapping[str, Explanation] = {
    KeptCode.CHANGED_SINCE: Explanation(
        "a user or a later import changed the document, or this value of it, since",
        "if `by_import` names an import, undo that one first; what a user changed stays",
    ),
    KeptCode.TAGGED_SINCE: Explanation(
        "a user has tagged the document since",
        "nothing: a document that a user has worked on stays, even if the tag is removed again",
    ),
    KeptCode.HAS_CHILDREN: Explanation(
        "an attachment of the document stays (`by_document`)",
        (
            "undo the import of the attachment first, then this one again. If it is an attachment of the same "
            "import, fifty generations down: undo again"
        ),
    ),
    KeptCode.IN_PRODUCTION: Explanation(
        "the document has Bates numbers of a production (`by_production`)",
        (
            "nothing: a produced document is never removed. A production that is cancelled voids its numbers; "
            "then undo again"
        ),
    ),
    KeptCode.DOES_NOT_FIT: Explanation(
        "the restored properties and those that were added since are too long together for their column",
        "shorten other properties of the document, for example with an overlay, then undo this import again",
    ),
}
