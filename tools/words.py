"""Counts of the words that style.md and the tests' language have given up, in names and in text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tools.measures import is_product
from tools.sources import Source

# style.md's left column. A row is one figure; `|` separates forms. Names with a capital are parts of a class's name.
# `claim`, `replay`, `fit`, `given`, `forget` and `behind` have right uses too: of keys, of answers, of space.
STYLE = """
claim|claims|claimed
settle|settles|settled|settling
tiles
replay|replays|replayed
Fitter|fitter|fitted
plain rows|plain records
Loss
moment|moments
asked
told
wanted
said
shown
the_import
Taken
Given
nudge|nudges|nudged
parked
epoch
sighting|sightings
adopt|adopts|adopted
behind
whoever|somebody|nobody
(?<!there )is no(?! longer)|(?<!there )is none
mend|mends|mended
what became of
sides|contest|rivals
naive twin
forget|forgets|forgotten
"""
DIALECT = "told|asked|nobody|whoever|somebody|wanted"
TEXTS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "events/*.md")


def count_words(texts: Iterable[str], forms: str) -> int:
    """How often one of the forms occurs, also as a part of a name: `asked` in `is_asked` and in `AskedRows`."""
    # "is None" is Python.
    sensitive = forms[0].isupper() or "is none" in forms
    pattern = re.compile(rf"\b(?:{forms})\b", 0 if sensitive else re.IGNORECASE)
    return sum(len(pattern.findall(text)) for text in texts)


def _separate(text: str) -> str:
    """Separate the words of names; `the_import` stays one, because "the import" is English."""
    return re.sub(r"\s+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<!\bthe)_", " ", text))


def format_words(sources: list[Source], root: Path) -> str:
    """A line for each word with its counts in the product, in tests, in benchmarks and in the documents."""
    texts = {
        "product": [_separate(source.text) for source in sources if is_product(source) and source.module != __name__],
        "tests": [_separate(source.text) for source in sources if source.folder == "tests"],
        "benchmarks": [_separate(source.text) for source in sources if source.folder == "benchmarks"],
        "documents": [_separate(path.read_text("utf-8")) for glob in TEXTS for path in root.glob(glob)],
    }
    lines = [f"{'word':34}" + "".join(f"{where:>12}" for where in texts)]
    for forms in (*STYLE.strip().splitlines(), DIALECT):
        counts = "".join(f"{count_words(found, forms):>12,}" for found in texts.values())
        name = re.sub(r"\(\?.*?\)", "", forms).replace("|", ", ")
        lines.append(f"{name:34}{counts}")
    return "\n".join([*lines, ""])
