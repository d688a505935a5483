"""Every record of every kind of file is accounted for, and every cell of every imported row can be rebuilt."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, note, settings

from samples.columns import IdStyle
from samples.dates import DateFormat
from samples.dialects import DIALECTS, ENCODINGS, PIPE_QUOTE, Dialect, Quoting
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from samples.strategies import quotings, specs
from samples.words import Alphabet
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World
from tests.support.imports.accounting import assert_accounted
from tests.support.imports.rebuilt_rows import assert_rebuilt

EVERYTHING = frozenset(Alphabet)
_numbers = count()


def import_and_check(world: World, spec: Spec) -> int:
    """Import the file of a spec into a case of its own; every line and every cell must be found again."""
    made = generate(spec)
    import_id = world.run(made.data, case=f"Case {next(_numbers)}", **(made.options or {}))
    assert_accounted(world, import_id, made.truth)
    assert_rebuilt(world, import_id, made.truth, made.data)
    found = world.query("SELECT encoding, delimiter, qualifier FROM imports WHERE id = :id", id=import_id)[0]
    assert tuple(found) == (made.truth.encoding, made.truth.delimiter, made.truth.qualifier or None)
    return import_id


@pytest.mark.parametrize("number", range(len(DIALECTS)), ids=lambda number: DIALECTS[number].name)
def test_every_dialect_and_every_encoding(world: World, chunk_rows: Chunks, number: int) -> None:
    chunk_rows(7)
    dialect, encoding = DIALECTS[number], ENCODINGS[number % len(ENCODINGS)]
    quoting = quotings(dialect)[number % len(quotings(dialect))]
    spec = Spec(rows=16, seed=number, dialect=dialect, encoding=encoding, quoting=quoting)
    spec = replace(spec, newline=("\r\n", "\n")[number % 2], alphabets=EVERYTHING, embedded_newlines=True, spice=0.7)
    import_and_check(world, spec)


@pytest.mark.parametrize("kind", FaultKind, ids=lambda kind: kind.name.lower())
def test_a_fault_costs_its_own_row_and_no_other(world: World, chunk_rows: Chunks, kind: FaultKind) -> None:
    """In one of three dialects, with ids of one of three styles."""
    chunk_rows(3)
    number = list(FaultKind).index(kind)
    dialect, id_style = (DIALECTS[0], DIALECTS[1], PIPE_QUOTE)[number % 3], list(IdStyle)[number // 3 % 3]
    spec = Spec(rows=9, dialect=dialect, quoting=Quoting.ALL, id_style=id_style, encoding="utf-8")
    import_and_check(world, replace(spec, faults=(Fault(kind, 4), Fault(kind), Fault(FaultKind.INVALID_DATE))))


def test_dates_are_read_in_the_order_of_the_file(world: World) -> None:
    for number, date_format in enumerate(DateFormat):
        import_and_check(world, Spec(rows=12, date_format=date_format, ambiguous_dates=number % 2 == 0))


@pytest.mark.parametrize("dialect", [DIALECTS[0], DIALECTS[1]], ids=lambda dialect: dialect.name)
def test_a_file_without_a_header_is_mapped_by_numbers(world: World, dialect: Dialect) -> None:
    import_and_check(world, Spec(rows=6, dialect=dialect, quoting=quotings(dialect)[0], header=False))


def test_ids_with_spaces_around_them_and_blank_lines(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(4)
    spec = Spec(rows=15, padded_ids=True, blank_lines=True, spaced_values=True, trailing_delimiter=True)
    import_and_check(world, replace(spec, final_newline=False, seed=1, convert_marks=False))


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spec=specs())
def test_any_file_is_accounted_for_and_rebuilt(world: World, chunk_rows: Chunks, spec: Spec) -> None:
    note(repr(spec))
    chunk_rows(3)
    # So few rows may not show which of their marks are delimiters, or that some cells have quotation marks.
    hidden = not spec.header or (spec.dialect is PIPE_QUOTE and spec.quoting is Quoting.MINIMAL)
    # Before a trailing delimiter, one cell too few looks like an empty last cell.
    short = any(fault.kind is FaultKind.FEWER_CELLS for fault in spec.faults)
    spec = replace(spec, explicit_dialect=spec.explicit_dialect or hidden)
    import_and_check(world, replace(spec, trailing_delimiter=spec.trailing_delimiter and not short))
