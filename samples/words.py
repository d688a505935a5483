"""The words, names and tags of sample records, and free text of a given length.

Guarantees: all text is NFC; no two names or tags of a pool are equal under a collation that ignores case and accents;
no text starts or ends with a delimiter, a qualifier or a newline unless its cell is quoted; accented letters are
surrounded by ASCII letters, so that cp1252 text is never valid UTF-8 by accident.
Does not guarantee: meaningful text.
"""

import enum
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from samples.dialects import NEWLINE_MARK


class Alphabet(enum.Enum):
    """The kinds of words; ASCII words are always used."""

    ASCII = "ascii"
    ACCENTS = "accents"
    CJK = "cjk"
    EMOJI = "emoji"
    SEPARATORS = "separators"


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_WORDS = {
    Alphabet.ASCII: _split_words(
        "agreement board budget call clause closing contract counsel deadline delivery draft evidence exhibit figures "
        "forecast hearing invoice ledger letter meeting memo minutes notice offer order payment plan policy product "
        "proposal question quote receipt release report request review schedule shipment signed statement summary "
        "supplier update vendor warranty a of on the for re: fwd: Q3 2019 v2 C:\\Temp it's 100% <b>x</b> =SUM(A1) -- "
        "x@example.com #7 & (copy) [final] {1} N/A"
    ),
    Alphabet.ACCENTS: _split_words(
        "Müller café's façade naïve señor crème brûlée Århus kröna “draft” €500 — Þing smörgås"
    ),
    # U+0D0A and U+010A hold the bytes of a newline in UTF-16.
    Alphabet.CJK: _split_words("契約書 会議 電子メール 报告 发票 계약서 \u010aesa \u0d0aട്ടി Привет"),
    Alphabet.EMOJI: ("😀", "👍🏽", "👨\u200d👩\u200d👧", "𝒳", "𠮷野家"),
    # U+2028 and U+0085 end lines for str.splitlines and for YAML.
    Alphabet.SEPARATORS: ("a\u00a0b", "one\u2028two", "up\u0085down", "zero\u200bwidth"),
}
_CP1252_WORDS: dict[Alphabet, tuple[str, ...]] = {
    Alphabet.ASCII: _WORDS[Alphabet.ASCII],
    Alphabet.ACCENTS: _WORDS[Alphabet.ACCENTS],
    Alphabet.SEPARATORS: ("a\u00a0b",),
}

_LAST = _split_words(
    "Smith Jones Garcia Okafor Novak Haddad Lindqvist Moreau Tanaka Petrov Costa Weber Iyer Doyle Kowalski Mbeki Chen "
    "Rossi Larsen Yilmaz Adeyemi Bauer Castillo Dubois Eriksen Fischer Greco Horvat Ivanov Jansen"
)
_FIRST = _split_words(
    "Anna Boris Carla David Elena Farid Grace Hugo Irene Jamal Karin Louis Mona Nils Olga Pavel Quentin Rosa Samir "
    "Tanja Umar Vera Walter Xenia Yusuf Zara"
)
_ACCENTED_NAMES = ("Müller, Zoë", "Núñez, José", "Strömberg, Åsa", "Lefèvre, Chloé")
_WIDE_NAMES = ("佐藤, 花子", "王, 小明", "Иванова, Ольга")
_TAGS = (
    "Hot",
    "Hot\\Really Hot",
    "Hot\\Really Hot\\Super Hot",
    "Look at Later",
    "Privileged",
    "Privileged\\Attorney Client",
    "Privileged\\Work Product",
    "Responsive",
    "Not Responsive",
    "Confidential",
    "Issues\\Pricing",
    "Issues\\Delivery",
    "Redacted",
    "Needs Second Review",
)


def build_random(seed: int, purpose: str) -> random.Random:
    """Return a random generator that depends on seed and purpose alone, the same on every machine."""
    return random.Random(f"{seed}:{purpose}")  # noqa: S311 - repeatable samples, not secrets


def build_word_pool(alphabets: frozenset[Alphabet], encoding: str) -> list[str]:
    """Return the words of `alphabets` that `encoding` can represent; at least half are ASCII."""
    table = _CP1252_WORDS if encoding == "cp1252" else _WORDS
    pool = list(table[Alphabet.ASCII])
    for alphabet in Alphabet:
        if alphabet in alphabets and alphabet is not Alphabet.ASCII:
            pool.extend(table.get(alphabet, ()))
    return pool


def custodian_names(count: int, alphabets: frozenset[Alphabet], encoding: str) -> list[str]:
    """Return `count` distinct names in the form "Last, First"; the first is ASCII."""
    special = list(_ACCENTED_NAMES) if Alphabet.ACCENTS in alphabets else []
    special += _WIDE_NAMES if Alphabet.CJK in alphabets and encoding != "cp1252" else ()
    names = []
    for number in range(count):
        last, first = _LAST[number % len(_LAST)], _FIRST[number % len(_FIRST)]
        again = number // math.lcm(len(_LAST), len(_FIRST))
        use_special = number % 3 == 1 and number // 3 < len(special)
        names.append(special[number // 3] if use_special else f"{last}, {first}" + (f" {again + 1}" if again else ""))
    return names


def build_tag_paths(count: int) -> list[str]:
    """Return `count` distinct tags; levels are separated by a backslash."""
    return [_TAGS[n] if n < len(_TAGS) else f"Batch\\{n}" for n in range(count)]


@dataclass(frozen=True)
class CellRules:
    """The special characters that a cell can hold; `breaks` are ® and newlines."""

    delimiter: str
    qualifier: str
    quotable: bool
    breaks: tuple[str, ...]


def build_text(rng: random.Random, pool: Sequence[str], length: int) -> str:
    """Return words of at most `length` characters in all, never starting with punctuation or a blank."""
    text = ""
    while len(text) < length:
        text += " ".join(rng.choices(pool, k=length // 8 + 1)) + " "
    text = ("m" + text[1:] if length and not text[0].isalnum() else text)[: length + 1]
    whole_words = text.rpartition(" ")[0] if len(text) > length else text
    return (whole_words or text[:length]).rstrip()


def _find_blanks(text: str) -> list[int]:
    """Return the indexes of blanks between two ASCII letters, where any encoding can have a break or a delimiter."""
    return [
        at
        for at in range(1, len(text) - 1)
        if text[at] == " " and (text[at - 1] + text[at + 1]).isascii() and (text[at - 1] + text[at + 1]).isalpha()
    ]


def add_special_characters(rng: random.Random, text: str, rules: CellRules) -> str:
    """Return `text` with a break, the delimiter or the qualifier added, where `rules` allow them.

    A delimiter never follows a break: the second line of a damaged record must not look like a record.
    """
    blanks = _find_blanks(text)
    if blanks and rules.breaks and rng.random() < 0.6:
        at = rng.choice(blanks)
        text = text[:at] + rng.choice(rules.breaks) + text[at + 1 :]
        blanks = [blank for blank in blanks if blank < at]
    if blanks and rules.quotable and rng.random() < 0.5:
        at = rng.choice(blanks)
        text = text[:at] + rules.delimiter + text[at + 1 :]
    if rules.qualifier and rng.random() < 0.5:
        text = _with_qualifier(rng, text, rules)
    return text


def _with_qualifier(rng: random.Random, text: str, rules: CellRules) -> str:
    if rules.quotable and text[:1].isalpha() and rng.random() < 0.3:
        return rules.qualifier + text + rules.qualifier
    inside = [at for at in range(1, len(text)) if text[at - 1 : at + 1].isascii() and text[at - 1 : at + 1].isalpha()]
    at = rng.choice(inside) if inside else 0
    return text[:at] + rules.qualifier + text[at:] if at else text


def list_breaks(marks: bool, newline: str) -> tuple[str, ...]:
    """Return the line breaks allowed inside a cell; `newline` is empty where newlines are not allowed."""
    return ((NEWLINE_MARK,) if marks else ()) + ((newline,) if newline else ())
