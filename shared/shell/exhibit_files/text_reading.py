"""Read the text that cells of a load file have of an exhibit, a part at a time.

Guaranteed: data of another tenant is not found; only the bytes of the exhibit's own text are read, although they are in
an object with others; a part begins and ends between two characters. No URL of the object is given to a client.
Not guaranteed: that two parts are of one text; `sha256` differs if the exhibit gets another one meanwhile.
"""

from __future__ import annotations

import codecs

from core.caller import Caller
from core.contracts.texts import ExhibitText
from core.errors import FileRefusedError, InvalidInputError, NotFoundError, StorageUnavailableError
from shell.db.session import session
from shell.exhibits.queries import load_exhibit
from shell.settings import settings
from shell.tables.texts import Texts
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# As JSON, a character takes up to six times its bytes, and a response of a function may have 6 MB.
PART_BYTES = 500_000
_INSIDE = "start: the text has no character that begins at this byte; send the value of `nextStart`."


def read_text(caller: Caller, exhibit_id: int, start: int) -> ExhibitText:
    """Return the part of the exhibit's text that begins at a byte.

    Raises NotFoundError, also for an exhibit without a text in cells; InvalidInputError for a byte at which no
    character begins; and StorageUnavailableError.
    """
    text = _find_text(caller, exhibit_id)
    if start >= text.byte_len:
        raise InvalidInputError(_INSIDE)
    part = _read_part(text, start, min(text.byte_len, start + PART_BYTES))
    end = start + len(part.encode())
    return ExhibitText(
        text=part,
        byte_start=start,
        byte_len=text.byte_len,
        sha256=text.sha256.hex(),
        import_id=text.import_id,
        line=text.line_no,
        next_start=None if end >= text.byte_len else end,
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_text(caller: Caller, exhibit_id: int) -> Texts:
    with session() as reading:
        exhibit, _ = load_exhibit(reading, caller, exhibit_id)
        text = reading.get(Texts, exhibit.text_id) if exhibit.text_id is not None else None
        if text is None or text.case_id != exhibit.case_id:
            raise NotFoundError("The exhibit has no text in the cells of a load file.")
        reading.expunge(text)
        return text


def _read_part(text: Texts, start: int, end: int) -> str:
    """Return the whole characters of the bytes [start, end) of a text."""
    # Few requests are for texts: the others load no client of S3.
    from shell.aws.s3 import ObjectVersion

    stored = ObjectVersion(settings().bucket, text.object_key, text.version_id, None)
    try:
        data = stored.read(text.byte_start + start, text.byte_start + end)
    except FileRefusedError as gone:
        raise StorageUnavailableError("The object with the text is missing; an operator can restore it.") from gone
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=end == text.byte_len)
    except UnicodeDecodeError as inside:
        raise InvalidInputError(_INSIDE) from inside
