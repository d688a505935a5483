"""The file that the demo imports: some three thousand documents, and a few rows with something wrong.

Guarantees: the same bytes every time; `describe` tells every planted row and what must become of it.
Does not guarantee: anything beyond one Concordance file; tests make their own with `samples.generator`.

`python -m samples.demo DIRECTORY` writes the file and prints its path.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samples.generator import Generated, generate
from samples.oracle import Record
from samples.spec import Fault, FaultKind, Spec
from samples.words import Alphabet

FILE_NAME = "demo_production.dat"
_FAULTS = (
    Fault(FaultKind.MISSING_ID, 212),
    Fault(FaultKind.BLANK_ID, 415),
    Fault(FaultKind.DUPLICATE_ID, 640, of=17),
    Fault(FaultKind.FEWER_CELLS, 871),
    Fault(FaultKind.MORE_CELLS, 1_103),
    Fault(FaultKind.UNCLOSED_QUOTE, 1_330),
    Fault(FaultKind.BAD_BYTE, 1_571),
    Fault(FaultKind.EMOJI_TITLE, 1_799),
    Fault(FaultKind.HUGE_PROPERTY, 2_010),
    Fault(FaultKind.INVALID_DATE, 2_222),
    Fault(FaultKind.DUPLICATE_ID, 2_305, of=17),
    Fault(FaultKind.NAME_CASE, 2_400),
    Fault(FaultKind.LONG_TITLE, 2_600),
    Fault(FaultKind.LONG_ID, 2_750),
    Fault(FaultKind.WIDE_CUSTODIAN, 2_810),
)
SPEC = Spec(
    rows=3_000,
    seed=2_001,
    id_prefix="ACME",
    properties=5,
    property_length=(0, 90),
    alphabets=frozenset({Alphabet.ACCENTS, Alphabet.CJK}),
    custodians=12,
    tags=14,
    spaced_values=True,
    faults=_FAULTS,
)


@dataclass(frozen=True)
class Special:
    """A row of the demo's story: its physical line, its id, what was planted in it, and what must happen to it."""

    line: int
    control_number: str | None
    planted: str
    expected: str


@cache
def demo_file() -> Generated:
    """The demo's file with its truth; about two megabytes, generated once per process."""
    return generate(SPEC)


def describe() -> list[Special]:
    """The special rows in file order."""
    generated = demo_file()
    records = generated.truth.records
    return [_special(fault, records[fault.row]) for fault in generated.planted if fault.row is not None]


def _special(fault: Fault, record: Record) -> Special:
    control = record.control_number
    short = control if control is None or len(control) < 40 else control[:12] + "…"
    return Special(record.first_line, short, fault.kind.value, _expected(record))


def _expected(record: Record) -> str:
    if record.imported:
        warned = ", ".join(f"{warning.code} ({warning.column})" for warning in record.warnings)
        return f"imported with a warning: {warned}" if warned else "imported"
    reason = ", ".join(sorted(record.codes))
    seen = f", the id is on line {record.duplicate_of_line}" if record.duplicate_of_line else ""
    return f"rejected: {reason}{seen}"


def write_demo(directory: Path) -> Path:
    """Write the file into `directory`, which is made where it is missing; returns its path."""
    directory.mkdir(parents=True, exist_ok=True)
    return demo_file().write(directory / FILE_NAME)


def main(arguments: list[str]) -> int:
    """The command; returns the exit status."""
    if len(arguments) != 1:
        print("usage: python -m samples.demo DIRECTORY", file=sys.stderr)
        return 2
    print(write_demo(Path(arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
