"""The files of the demo: a load file of 3,000 documents, with faults in a few rows, and a volume.

Guarantees: the same bytes every time; `describe` returns every planted row with the expected result of its import.
Does not guarantee: anything beyond these; tests generate their own with `samples.generator` and `samples.volume`.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samples.generator import Generated, generate
from samples.oracle import Record
from samples.spec import Fault, FaultKind, Spec
from samples.volume import VolumeSpec
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
# The first of two rows: an e-mail with an attachment.
_FAMILY = 41
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
    bates_families=frozenset({_FAMILY}),
    faults=_FAULTS,
)
VOLUME = VolumeSpec()


@dataclass(frozen=True)
class PlantedRow:
    """A row with a fault, or whose family is stated by Bates numbers: its physical line, and the expected result.

    `parent` is the control number of its parent if only Bates numbers state it; such a row has no entry in the reports.
    """

    line: int
    fault: str
    expected: str
    control_number: str | None
    parent: str | None = None


@cache
def demo_file() -> Generated:
    """Return the demo's file with its truth; about two megabytes, generated once per process."""
    return generate(SPEC)


def describe() -> list[PlantedRow]:
    """Return the planted rows in file order."""
    generated = demo_file()
    records = generated.truth.records
    faulty = [(fault, records[fault.row]) for fault in generated.planted if fault.row is not None]
    rows = [
        PlantedRow(record.first_line, fault.kind.value, _describe_result(record), record.control_number)
        for fault, record in faulty
    ]
    return sorted([_describe_attachment(records[_FAMILY + 1]), *rows], key=lambda row: row.line)


def _describe_attachment(record: Record) -> PlantedRow:
    fault = f"no parent id; the family begins with {record.family_begin}, a Bates number"
    expected = f"imported as attachment of {record.parent}"
    return PlantedRow(record.first_line, fault, expected, record.control_number, record.parent)


def _describe_result(record: Record) -> str:
    if record.imported:
        warnings = ", ".join(f"{warning.code} ({warning.column})" for warning in record.warnings)
        return f"imported with a warning: {warnings}" if warnings else "imported"
    codes = ", ".join(sorted(record.codes))
    original = f", the id is on line {record.duplicate_of_line}" if record.duplicate_of_line else ""
    return f"rejected: {codes}{original}"


def write_demo(directory: Path) -> Path:
    """Write the file to `directory`, which is created if it does not exist, and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    return demo_file().write(directory / FILE_NAME)
