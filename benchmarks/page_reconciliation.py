"""`python -m benchmarks.page_reconciliation`: time, memory and exactness of the reconciliation of pages.

Exit codes: 0 measured, 1 failed or not exact, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.arguments import count, number
from benchmarks.errors import BenchmarkError
from benchmarks.output import DONE, run_command, run_measurement, table
from core.checks.page_facts import DocumentPages, PageRow, build_runs, pack_documents, pack_rows
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.page_lines import ImageFileKind
from core.load_file.encoding import UTF_8

ROOT = Path(__file__).parents[1]
CHUNK_DOCUMENTS, PAGES = 2_000, 10
_TIMEOUT_S = 3_600
_DESCRIPTION = """\
Measures the reconciliation of an image load file with its data file. Each document has a range of ten numbers and a
line for each page. At both ends of each chunk of 2,000 documents a difference is planted: the last document of a chunk
has the first page of the next one, which lacks it; the one before lacks a page, and the first one but one has a wrong
page count beside a range of its own. The facts are packed before, and come in another order than that of the file. The
benchmark fails unless exactly these differences are found. read_s is the time in which the lines of the image load file
are parsed, without their files and without a database: a part of what an import of these pages takes. peak_mb is the
peak memory of the process above that of the imported modules."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)
    if options.part:
        print(json.dumps(measure_pass(options.documents)))
        return DONE

    def measure() -> int:
        runs = [_run_pass(options.documents) for _ in range(options.runs)]
        fastest = min(runs, key=lambda run: run["seconds"])
        result = {"documents": options.documents, "pages": options.documents * PAGES, **fastest}
        print(json.dumps(result) if options.json else table([*result], [[*map(str, result.values())]]))
        return DONE

    return run_measurement(measure)


def _run_pass(documents: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.page_reconciliation", "--pass", "--documents", str(documents)]
    done = subprocess.run(  # noqa: S603 - our own module
        command, cwd=ROOT, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"a pass failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure_pass(documents: int) -> dict[str, float]:
    """Reconcile once in this process, and return the figures; raise BenchmarkError unless the findings are exact."""
    from shell.imports.pages.merge import LINES_IN_MEMORY, find_page_findings

    starts = range(0, documents, CHUNK_DOCUMENTS)
    order = [*starts[len(starts) // 2 :], *starts[: len(starts) // 2]]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        place = Path(folder)
        for start in order:
            (place / f"rows{start}").write_bytes(pack_rows(_rows(start, documents)))
            (place / f"pages{start}").write_bytes(pack_documents(_documents(start, documents)))
        (place / "sorted").mkdir()
        before, begin = _peak(), time.perf_counter()
        found = {
            (each.code.value, each.document)
            for each in find_page_findings(
                ((0, (place / f"rows{start}").read_bytes()) for start in order),
                ((True, (place / f"pages{start}").read_bytes()) for start in order),
                str(place / "sorted"),
                LINES_IN_MEMORY,
            )
        }
        seconds, peak = time.perf_counter() - begin, _peak() - before
    planted = set(_list_planted(documents))
    if found != planted:
        raise BenchmarkError(f"{len(found - planted)} findings are invented, {len(planted - found)} are missing")
    return {
        "seconds": round(seconds, 1),
        "read_s": _read(documents),
        "peak_mb": round(peak / 1e6, 1),
        "findings": len(found),
    }


def _format(value: int) -> str:
    return f"ABC{value:09d}"


def _place(position: int, documents: int) -> tuple[bool, bool, bool, bool]:
    """Whether a document takes the next one's first page, lost its own, lacks a page, or states a wrong count."""
    at = position % CHUNK_DOCUMENTS
    is_last = at == CHUNK_DOCUMENTS - 1 and position + 1 < documents
    lost = at == 0 and position > 0
    return is_last, lost, at == CHUNK_DOCUMENTS - 2, at == 1


def _rows(start: int, documents: int) -> Iterator[PageRow]:
    for position in range(start, min(start + CHUNK_DOCUMENTS, documents)):
        first = position * PAGES + 1
        wrong = _place(position, documents)[3]
        # The image keys are control numbers: the first page of a document can be missing.
        control_number = _format(first + 1 if _place(position, documents)[1] else first)
        yield PageRow(position + 2, control_number, _format(first), _format(first + PAGES - 1), PAGES + wrong)


def _keys(position: int, documents: int) -> list[str]:
    takes, lost, lacks, _ = _place(position, documents)
    first = position * PAGES + 1
    numbers = range(first + lost, first + PAGES + takes)
    return [_format(value) for value in numbers if not lacks or value != first + 4]


def _documents(start: int, documents: int) -> Iterator[DocumentPages]:
    for position in range(start, min(start + CHUNK_DOCUMENTS, documents)):
        keys, line = _keys(position, documents), position * (PAGES + 2) + 1
        runs = build_runs((key, line + index) for index, key in enumerate(keys))
        yield DocumentPages(line, keys[0], len(keys), None, False, False, runs)


def _list_planted(documents: int) -> Iterator[tuple[str, str]]:
    for position in range(documents):
        takes, _, lacks, wrong = _place(position, documents)
        number = _format(position * PAGES + 1)
        if takes:
            yield "PAGE_OF_OTHER_DOCUMENT", number
        if lacks:
            yield "PAGES_MISSING", number
        if wrong:
            yield "PAGE_COUNT_DIFFERS", number


def _read(documents: int) -> float:
    """Return the time in which the lines are parsed, as the chunks of an import parse them."""
    seconds = 0.0
    for start in range(0, documents, CHUNK_DOCUMENTS):
        lines = [
            f"{key},VOL001,IMAGES\\{key}.tif,{'' if index else 'Y'},,,\r\n"
            for position in range(start, min(start + CHUNK_DOCUMENTS, documents))
            for index, key in enumerate(_keys(position, documents))
        ]
        raw = "".join(lines).encode()
        begin = time.perf_counter()
        for document in read_image_chunk(raw, ImageFileKind.OPT, UTF_8, 1, 0):
            _ = document.content_hash
        seconds += time.perf_counter() - begin
    return round(seconds, 1)


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.page_reconciliation", None, _DESCRIPTION, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    description = f"documents of {PAGES} pages (default: 100000)"
    made.add_argument("--documents", type=number(1, 10_000_000), default=100_000, metavar="N", help=description)
    made.add_argument("--runs", type=count, default=1, metavar="N", help="runs; the fastest counts (default: 1)")
    made.add_argument("--pass", dest="part", action="store_true", help=argparse.SUPPRESS)
    return made


if __name__ == "__main__":
    run_command(main)
