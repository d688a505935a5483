"""docs/decisions.md: numbers, index, status, and what the documents refer to."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
DECISIONS = (DOCS / "decisions.md").read_text(encoding="utf-8")
# A status, then what it refers to: "accepted; superseded by D107".
STATUS = re.compile(r"20\d\d-\d\d-\d\d, (?:accepted|superseded by D\d+)[^\n]*")


def test_every_decision_is_in_the_index_under_one_subject_and_has_a_status() -> None:
    titles = re.findall(r"^## (D\d+: .+)$", DECISIONS, re.MULTILINE)
    numbers = [int(re.findall(r"\d+", title)[0]) for title in titles]
    assert numbers == sorted(set(numbers))
    index, *entries = re.split(r"^## D", DECISIONS, flags=re.MULTILINE)
    listed = re.findall(r"^- \[(.+)\]\(#", index, re.MULTILINE)
    assert sorted(listed) == sorted(titles)
    assert [entry[:40] for entry in entries if not STATUS.match(entry.split("\n")[2])] == []


def test_a_superseded_decision_is_a_line_and_what_others_refer_to_exists() -> None:
    entries = {f"D{entry.partition(':')[0]}": entry for entry in re.split(r"^## D", DECISIONS, flags=re.MULTILINE)[1:]}
    texts = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    pattern = re.compile(r"(?<![\w-])D\d{1,3}\b(?!\*|\()")
    assert {
        name: refers_to for name, text in texts.items() if (refers_to := set(pattern.findall(text)) - {*entries})
    } == {}
    superseded = [entry for entry in entries.values() if re.search(r", superseded by D\d+[.,]", entry)]
    assert superseded
    assert [entry for entry in superseded if len(entry.strip().splitlines()) > 4] == []
