"""Damaged load files are refused with a reason, or every record is accounted for; and what is not so is found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy.orm import Session

from core.load_file.chunk_reader import read_chunk
from core.load_file.layout import Layout
from core.load_file.record_reader import SourceRecord
from core.load_file.split_state import Chunk
from core.load_file.splitter import Splitter
from samples.columns import Role
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from shell.imports.chunks import checker
from shell.imports.chunks.checker import compare_with_case
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.results import RowResults
from shell.settings import settings
from tests.support.application.driver import World
from tests.torture import mutated_files
from tests.torture.access.table_rows import Kept
from tests.torture.mutations import limits
from tests.torture.mutations.checks import agreed
from tests.torture.mutations.imports import Imported, accounted, imported, run_import
from tests.torture.mutations.limits import ExceededError, bounded
from tests.torture.mutations.load_files import DAMAGES, Mutated, Mutator
from tests.torture.mutations.parsing import parse
from tests.torture.mutations.records import ViolationError

FILES, IMPORTS, CHECKS = 300, 14, 8


@pytest.fixture(scope="session")
def mutator() -> Mutator:
    return Mutator(7, most_bases=170)


@pytest.fixture
def small_chunks(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("CHUNK_ROWS", "7")
    settings.cache_clear()
    yield world
    monkeypatch.undo()
    settings.cache_clear()


@pytest.mark.parametrize("files", [range(FILES), pytest.param(range(FILES, 10 * FILES), marks=pytest.mark.slow)])
def test_every_damaged_file_is_refused_with_a_reason_or_accounted_for(mutator: Mutator, files: range) -> None:
    counts: Counter[str] = Counter()
    for number in files:
        with bounded():
            counts += mutated_files.parsed(mutator.file(number))
    assert len(files) / 20 < counts["refused"] < len(files) / 3
    assert counts["rows"] > 10 * len(files)
    assert counts["rejected"] > len(files) / 2


@pytest.mark.slow
def test_damaged_files_are_imported_or_fail_with_a_reason(small_chunks: World, mutator: Mutator) -> None:
    ended = [imported(small_chunks, mutator.file(number)) for number in range(IMPORTS)]
    counts = sum((Counter(each.counts) for each in ended if each.counts), Counter[str]())
    assert sum(each.failed is None for each in ended) > IMPORTS / 2
    assert min(counts["imported"], counts["unchanged"], counts["rejected"]) > 0


@pytest.mark.slow
def test_the_check_of_a_damaged_file_says_what_its_import_does(small_chunks: World, mutator: Mutator) -> None:
    counts = sum((Counter(agreed(small_chunks, mutator.file(number))) for number in range(CHECKS)), Counter[str]())
    assert min(counts["failed"], counts["findings"]) > 0


def test_a_check_that_overlooks_a_row_is_found_out(
    small_chunks: World, mutator: Mutator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overlook(transaction: Session, chunk_input: ChunkInput) -> RowResults:
        results = compare_with_case(transaction, chunk_input)
        return replace(results, rejected=results.rejected[1:])

    monkeypatch.setattr(checker, "compare_with_case", overlook)
    with pytest.raises(ViolationError, match=r"the check said|check alone"):
        list(map(partial(agreed, small_chunks), map(mutator.file, range(CHECKS))))


class LosingSplitter(Splitter):
    """A naive splitter: what the last line end does not end is not read."""

    def finish(self) -> Iterator[Chunk]:
        yield from self._close()


class BlindSplitter(Splitter):
    """A naive splitter: a chunk's bytes are never looked at again, so that its lines may be any."""

    def feed(self, block: bytes) -> Iterator[Chunk]:
        yield from (Chunk(*each[:3], each[3] - 1, *each[4:]) for each in map(_fields, super().feed(block)))


def _fields(chunk: Chunk) -> tuple[int, int, int, int, int, int, bytes]:
    return (*(getattr(chunk, name) for name in Chunk.__dataclass_fields__),)


def skipping(raw: bytes, layout: Layout, first_line: int, byte_start: int) -> Iterator[SourceRecord]:
    """A naive reader: it leaves out rows that it cannot read."""
    return (each for each in read_chunk(raw, layout, first_line, byte_start) if each.cells is not None)


def padding(raw: bytes, layout: Layout, first_line: int, byte_start: int) -> Iterator[SourceRecord]:
    """A naive reader: it numbers the records, and not the lines."""
    for number, each in enumerate(read_chunk(raw, layout, first_line, byte_start)):
        yield each._replace(line_no=first_line + number)


@pytest.mark.slow
@pytest.mark.parametrize(
    "twin",
    [
        lambda file: parse(file, splitter=LosingSplitter),
        lambda file: parse(file, splitter=BlindSplitter),
        lambda file: parse(file, reader=skipping),
        lambda file: parse(file, reader=padding),
    ],
    ids=["the last line is lost", "lines are guessed", "bad rows are skipped", "records are counted for lines"],
)
def test_a_naive_reading_is_found_out(mutator: Mutator, twin: Callable[..., object]) -> None:
    found = 0
    for number in range(120):
        try:
            twin(mutator.file(number))
        except ViolationError:
            found += 1
    assert found > 5


@pytest.mark.slow
def test_a_habit_that_is_read_otherwise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Splitter, "_is_repeated_header", lambda *_: False)
    assert mutated_files.main(["--files", "0", "--imports", "0", "--habits", "30"]) == 1


TAMPERING = {
    "an exhibit is missing": "DELETE FROM exhibits WHERE import_id = :id ORDER BY id LIMIT 1",
    "a rejection is missing": "DELETE FROM import_rejections WHERE import_id = :id ORDER BY line_no LIMIT 1",
    "a rejection is a byte short": "UPDATE import_rejections SET byte_len = byte_len - 1 WHERE import_id = :id",
    "an exhibit is on another line": "UPDATE exhibits SET line_no = 9999 WHERE import_id = :id ORDER BY id LIMIT 1",
    "a title was changed": "UPDATE exhibits SET title = CONCAT(title, '.') WHERE import_id = :id",
    "a chunk gave up": "UPDATE import_rejections SET code = 'CHUNK_FAILED' WHERE import_id = :id",
}


def test_what_is_wrong_with_an_import_is_found_out(small_chunks: World) -> None:
    roles = frozenset({Role.ID, Role.TITLE, Role.FILE_NAME, Role.DOCUMENT_DATE})
    base = generate(Spec(rows=10, roles=roles, faults=(Fault(FaultKind.LONG_ID), Fault(FaultKind.UNCLOSED_QUOTE, 4))))
    file = Mutated(0, base, base.data, {}, ())
    import_id = run_import(small_chunks, file)
    assert isinstance(accounted(small_chunks, import_id, file.data), Imported)
    small_chunks.query("UPDATE imports SET reports_generation = 0")
    kept = Kept.of(small_chunks.engine)
    for tampering, statement in TAMPERING.items():
        small_chunks.query(statement, id=import_id)
        try:
            accounted(small_chunks, import_id, file.data)
        except ViolationError:
            kept.put_back(small_chunks.engine)
        else:
            pytest.fail(f"{tampering}, and nothing was found")
    assert isinstance(accounted(small_chunks, import_id, file.data), Imported)


def endless() -> None:
    with bounded(0.05):
        while True:
            pass


def test_what_takes_too_long_or_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExceededError, match="processor"):
        endless()
    # What this process had before is whatever other tests took.
    monkeypatch.setattr(limits, "most_memory", iter((5_000_000, 7_000_000)).__next__)
    with pytest.raises(ExceededError, match="2,000,000 bytes of memory more"), bounded(memory_bytes=1_000_000):
        pass


def test_a_number_gives_the_same_file_and_all_damages_are_done() -> None:
    one, other = Mutator(3, most_bases=20), Mutator(3, most_bases=20)
    files = [one.file(number) for number in range(200)]
    assert files == [other.file(number) for number in range(200)]
    assert {name for file in files for name in file.done} == {each.__name__.strip("_") for each in DAMAGES} | {
        "options"
    }


@pytest.mark.slow
def test_the_command_ends_with_the_figures_and_says_how_to_see_a_violation_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutated_files, "Mutator", partial(Mutator, most_bases=20))
    assert mutated_files.main(["--files", "60", "--imports", "0", "--habits", "60", "--seed", "5"]) == 0
    assert capsys.readouterr().out.startswith("60 mutated files through the parser: ")
    monkeypatch.setattr(mutated_files, "parse", lambda file: parse(file, reader=padding))
    assert mutated_files.main(["--files", "60", "--imports", "0", "--habits", "60", "--seed", "5"]) == 1
    printed = capsys.readouterr().err
    assert "ViolationError" in printed
    assert "python -m tests.torture.mutated_files --seed 5 --only " in printed
