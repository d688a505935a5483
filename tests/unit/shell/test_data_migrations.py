"""The rule for migrations: data moves in batches of at most 5,000 rows, each committed, so that a kill loses one batch.

One statement over a whole table holds its locks, and its undo log, until it ends, and begins again after a kill.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from shell.maintenance.migrate import SCRIPTS

# The migrations before the rule; 0020 moved data in one statement.
LAST_BEFORE = "0044"
MOST_ROWS = 5_000
# Statements that change few rows, whatever the size of the database, by revision: the first words of each.
FEW_ROWS: dict[str, tuple[str, ...]] = {"0047": ("INSERT INTO tenants",)}
MOVES = re.compile(r"\s*(UPDATE|DELETE|REPLACE|INSERT\b(?=.*\bSELECT\b))\b", re.DOTALL)
BOUNDED = re.compile(r"(<=|BETWEEN :\w+ AND) *:last\b|\bLIMIT :most\b")
BATCH = re.compile(r"^ROWS_PER_BATCH = ([\d_]+)$", re.MULTILINE)


def find_violations(source: str, few: tuple[str, ...] = ()) -> list[str]:
    """The statements of a migration that move data in one piece, and batches that are too large."""
    constants = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    moves = [" ".join(text.split()) for text in constants if isinstance(text, str) and MOVES.match(text)]
    moves = [text for text in moves if not text.startswith(few)] if few else moves
    found = [text for text in moves if not BOUNDED.search(text)]
    if moves and ".commit()" not in source:
        found.append("no batch is committed")
    if moves and not any(int(each) <= MOST_ROWS for each in BATCH.findall(source)):
        found.append(f"ROWS_PER_BATCH is not stated, or more than {MOST_ROWS}")
    return found


def read(revision: str) -> str:
    (path,) = (SCRIPTS / "versions").glob(f"{revision}_*.py")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((SCRIPTS / "versions").glob("0*.py")), ids=lambda path: path.name[:4])
def test_data_moves_in_batches(path: Path) -> None:
    revision = path.name[:4]
    if revision > LAST_BEFORE:
        assert find_violations(path.read_text(encoding="utf-8"), FEW_ROWS.get(revision, ())) == []


def test_what_was_there_before_the_rule_breaks_it() -> None:
    found = find_violations(read("0020"))
    assert (len(found), found[0].startswith("UPDATE production_documents")) == (3, True)
    # In batches, which were larger.
    assert find_violations(read("0032")) == ["ROWS_PER_BATCH is not stated, or more than 5000"]
    assert find_violations(read("0032").replace("10_000", "5_000")) == []


@pytest.mark.parametrize(
    "statement", ["DELETE FROM exhibits", "UPDATE cases SET a = 1", "INSERT INTO a SELECT * FROM b"]
)
def test_a_statement_over_a_whole_table_is_found(statement: str) -> None:
    source = f'ROWS_PER_BATCH = 5_000\nop.execute("{statement}")\nconnection.commit()\n'
    assert find_violations(source) == [statement]
    assert find_violations(source, (statement[:8],)) == []
    assert find_violations('op.execute("INSERT INTO a (b) VALUES (1)")') == []
