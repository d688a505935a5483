"""Record what this release writes: `python -m tests.support.corpus.record` adds the kinds that no release has recorded.

Guaranteed: lines of the corpus are never changed or removed. A kind is a form, a name and the members of its JSON.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.corpus.forms import FORMS, ROOT, Form

CORPUS = ROOT / "tests" / "corpus"


@dataclass(frozen=True)
class Line:
    """What a release wrote, and what that release read from it."""

    release: str
    form: str
    name: str
    body: str
    reads: Any


def read_corpus(folder: Path = CORPUS) -> Iterator[Line]:
    """Yield the lines of every release."""
    for path in sorted(folder.glob("*/*.jsonl")):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            # A message is read as its class, and written again as it was.
            reads = line["reads"] if "reads" in line else {"class": line["class"], "writes": json.loads(line["body"])}
            yield Line(path.parent.name, path.stem, line["name"], line["body"], reads)


def find_missing(form: Form, folder: Path = CORPUS) -> list[Line]:
    """Return what this release writes of a form and no release has recorded."""
    recorded = {_kind(line) for line in read_corpus(folder) if line.form == form.name}
    written = [Line(_find_release(), form.name, name, body, form.read(body)) for name, body in form.write()]
    return [line for line in written if _kind(line) not in recorded]


def record(folder: Path = CORPUS) -> int:
    """Add what is missing to this release's files, and return the number of lines."""
    count = 0
    for form in FORMS:
        missing = find_missing(form, folder)
        count += len(missing)
        if missing:
            path = folder / missing[0].release / f"{form.name}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.writelines(_format(line) + "\n" for line in missing)
    return count


def _format(line: Line) -> str:
    if line.form == "messages":
        return json.dumps({"name": line.name, "class": line.reads["class"], "body": line.body})
    return json.dumps({"name": line.name, "body": line.body, "reads": line.reads})


def _kind(line: Line) -> tuple[str, frozenset[str]]:
    name = line.reads["class"] if line.form == "messages" else line.name
    try:
        document = json.loads(line.body)
    except ValueError:
        document = None
    return name, frozenset(document if isinstance(document, dict) else ())


def _find_release() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


if __name__ == "__main__":
    print(f"{record()} lines were added", file=sys.stderr)
