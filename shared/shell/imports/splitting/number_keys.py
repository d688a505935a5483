"""Decide, once for a file, whether its keys may be any number of a document, and find documents that it names twice.

Guaranteed: chunks look up other numbers than the first one only if every key of the file was looked at here; of several
keys that name one document, all but that of the lowest line are stored as repeats, so that the order of the chunks does
not matter. Memory does not grow with the file. Not guaranteed: this for numbers that the case gets after it.
"""

from __future__ import annotations

from dataclasses import replace

from core.load_file.encoding import has_surrogates
from core.load_mode import OverlayKey
from shell.db.session import session
from shell.exhibits.numbers import has_claims
from shell.exhibits.updates import find_by_key
from shell.imports.splitting.split import Split
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import is_storable

KEYS_PER_LOOKUP = 1_000


def look_up_any_number(case_id: int, split: Split, *, is_whole: bool) -> None:
    """Let the keys of a file be any number of a document, if they are begin Bates numbers and the case has others.

    `is_whole`: the split has all keys of the file. Those of a file with checkpoints are stored elsewhere: they are the
    first numbers of documents alone.
    """
    layout = split.layout
    overlay_key = layout.load_mode.overlay_key if layout.load_mode.is_overlay else None
    key = layout.image_key if layout.image_format else overlay_key
    if key != OverlayKey.BATES_BEGIN or not is_whole or not _has_claims(case_id):
        return
    split.layout = replace(layout, any_number=True)
    for keys in split.keys.list_first_lines(KEYS_PER_LOOKUP):
        decoded = {split.decode_key(key): line for key, line in keys}
        split.documents.add(_find_documents(case_id, decoded))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _has_claims(case_id: int) -> bool:
    with session() as reading:
        return has_claims(reading, case_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_documents(case_id: int, lines: dict[str, int]) -> list[tuple[str, int]]:
    """Return the id of each document that one key names, and the key's line."""
    keys = {key for key in lines if not has_surrogates(key) and is_storable(key, "exhibits", "bates_begin")}
    with session() as reading:
        found = find_by_key(reading, case_id, OverlayKey.BATES_BEGIN, keys, any_number=True)
    return [(str(exhibits[0].id), lines[key]) for key, exhibits in found.items() if len(exhibits) == 1]
