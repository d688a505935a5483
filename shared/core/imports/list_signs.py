"""Find the signs that may separate the values of a list column whose separator no cell contains.

Guaranteed: what is noted of a cell depends on the cell alone, so that the notes of chunks can be added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.load_file.list_values import ListSigns

# No name of a person or tag is likely to have one of them.
STRONG = "|\u00a6^~\t"
# These are in many names: they count only if every value has them and reads like several ones.
WEAK = ",/"
SIGN, VALUE, OWN, QUOTED = "sign ", "value", "separator", "quotes"


def note_signs(signs: ListSigns, newline: str | None, column: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield what is noted of the cells: a note, how many cells have it, and the index of the first one.

    Without a sign in any cell, only their separator is, or how many have values. The separator is not counted.
    """
    distinct = dict.fromkeys(column)
    text = signs.replace_newlines("\n".join(distinct), newline)
    has_own = signs.separator in text
    if has_own and '"' not in text:
        yield OWN, 1, next(row for row, cell in enumerate(column) if _has_note(signs, newline, cell, OWN))
        return
    cells = Counter(column)
    names = [VALUE, *([OWN] if has_own else [])]
    if '"' in text and has_own and not signs.has_quotes:
        names.append(QUOTED)
    if not has_own:
        others = [sign for sign in STRONG + WEAK if sign in text and sign not in (signs.separator, signs.nested)]
        names += [SIGN + sign for sign in others]
    for name in names:
        found = [cell for cell in cells if _has_note(signs, newline, cell, name)]
        if found:
            # In the order in which they first occur.
            yield name, sum(cells[cell] for cell in found), column.index(found[0])


def _has_note(signs: ListSigns, newline: str | None, cell: str, name: str) -> bool:
    if name == VALUE:
        return bool(cell.strip())
    text = signs.replace_newlines(cell, newline)
    if name == OWN:
        return signs.separator in text
    if name == QUOTED:
        return '"' in text and _has_quoted_separator(text, signs.separator)
    sign = name.removeprefix(SIGN)
    return sign in text and (sign in STRONG or _reads_like_several(text, sign))


def _has_quoted_separator(text: str, separator: str) -> bool:
    plain = ListSigns(separator)
    quoted = ListSigns(separator, has_quotes=True)
    return [*plain.split(text, has_levels=False)] != [*quoted.split(text, has_levels=False)] and any(
        separator in value for value in quoted.split(text, has_levels=False)
    )


def _reads_like_several(text: str, sign: str) -> bool:
    """Return whether the parts are names by themselves: "Ann Lee, Bob Ray", but not "Lee, Ann" or "Lee, Ann, Esq."."""
    parts = [part.split() for part in text.split(sign)]
    return len(parts) > 1 and all(len(part) > 1 for part in parts)
