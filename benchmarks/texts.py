"""`python -m benchmarks.texts`: an import of long texts in cells, compared with one that keeps them as properties.

Exit codes: 0 measured, 1 a stored text is not that of the file, or failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.arguments import add_server, number
from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, temporary_application
from benchmarks.imports.memory import peak_mb
from benchmarks.output import DONE, run_command, run_measurement
from shell.aws.s3 import ObjectVersion

_DESCRIPTION = """\
Imports a file of long texts, OCR1 and OCR2 in each row, twice: as texts, which are stored whole, and with both columns
mapped to properties, as versions before texts did, which drops them. Only the handlers are timed. Then every stored
text is read from its object and compared with what the file has, and a third import is measured in a new process for
its peak of memory, which grows with neither rows nor texts: a chunk has 4 MB of the file."""
_EPILOG = """\
examples:
  python -m benchmarks.texts
      1,000 rows of 200 KB: 200 MB in each of four objects and folders
  python -m benchmarks.texts --rows 100000 --kilobytes 200
      20 GB, which need 80 GB of disk

exit status: 0 measured; 1 a text differs, or failed; 2 wrong usage; 130 interrupted"""
_PROPERTIES = {"columns": {"OCR1": "property", "OCR2": "property"}}
_TEXTS = """
    SELECT e.control_number, t.object_key, t.version_id, t.byte_start, t.byte_len, t.sha256
    FROM exhibits AS e JOIN texts AS t ON t.id = e.text_id WHERE e.import_id = :import_id ORDER BY t.id
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with (
            tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
            temporary_database(options.database_url) as database,
            temporary_application(database) as application,
        ):
            path = Path(folder) / "texts.dat"
            hashes = _write(path, options.rows, options.kilobytes * 1_000)
            result = _measure(application, path, hashes)
        print(json.dumps(result, indent=2) if options.json else _format(result))
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


def _measure(application: Application, path: Path, hashes: dict[str, bytes]) -> dict[str, Any]:
    before_s, _ = _import(application, path, "properties", _PROPERTIES)
    texts_s, import_id = _import(application, path, "texts")
    compared, packs = _compare(application.database, application.environment["BUCKET"], import_id, hashes)
    third, _ = application.start(application.upload(path, "memory"))
    peak = peak_mb(application.environment, third, application.pending(third))
    return {
        "server": application.database.server(),
        "rows": len(hashes),
        "file_mb": round(path.stat().st_size / 1e6),
        "properties_s": round(before_s, 1),
        "texts_s": round(texts_s, 1),
        "ratio": round(texts_s / before_s, 2),
        "objects": packs,
        "equal_hashes": compared,
        "peak_mb": peak,
    }


def _import(
    application: Application, path: Path, case: str, options: Mapping[str, object] | None = None
) -> tuple[float, int]:
    run = application.finish(*application.start(application.upload(path, case, options)))
    return run.start_s + sum(run.chunks_s) + run.complete_s, run.import_id


def _compare(database: Database, bucket: str, import_id: int, hashes: dict[str, bytes]) -> tuple[int, int]:
    """Return how many texts are those of the file, and in how many objects. Raises BenchmarkError for another one."""
    packs, compared = set[str](), 0
    for row in database.query(_TEXTS, import_id=import_id):
        stored = ObjectVersion(bucket, row.object_key, row.version_id, None)
        digest = hashlib.sha256(stored.read(row.byte_start, row.byte_start + row.byte_len)).digest()
        if not digest == bytes(row.sha256) == hashes[row.control_number]:
            raise BenchmarkError(f"the text of {row.control_number} is not that of the file")
        packs.add(row.object_key)
        compared += 1
    if compared != len(hashes):
        raise BenchmarkError(f"{compared} of {len(hashes)} documents have a text")
    return compared, len(packs)


def _write(path: Path, rows: int, size: int) -> dict[str, bytes]:
    """Write a load file in cp1252 with texts of `size` bytes; return the hashes of the texts in UTF-8, by document."""
    hashes: dict[str, bytes] = {}
    with path.open("wb") as file:
        file.write(_line("Control Number", "OCR1", "OCR2"))
        for row, text in enumerate(_texts(rows, size), start=1):
            control_number, middle = f"T-{row:07}", len(text) // 2
            file.write(_line(control_number, text[:middle], text[middle:]))
            hashes[control_number] = hashlib.sha256(text.replace("\u00ae", "\n").encode()).digest()
    return hashes


def _texts(rows: int, size: int) -> Iterator[str]:
    """Yield texts of words, lines and characters that take more bytes in UTF-8; each differs from the others."""
    chosen = random.Random(1)
    words = [chosen.randbytes(chosen.randint(1, 6)).hex() + chosen.choice(" \u00ae\u00fc\u20ac") for _ in range(5_000)]
    block = "".join(chosen.choices(words, k=size // 6 + 1))
    for row in range(rows):
        start = chosen.randrange(len(words))
        yield (f"{row} " + block[start:] + block[:start])[:size]


def _line(*cells: str) -> bytes:
    return ("\x14".join(f"\u00fe{cell}\u00fe" for cell in cells) + "\r\n").encode("cp1252")


def _format(result: dict[str, Any]) -> str:
    return (
        f"{result['server']}; {result['rows']} rows, {result['file_mb']} MB\n\n"
        f"as texts {result['texts_s']} s, as properties {result['properties_s']} s: ratio {result['ratio']}\n"
        f"{result['equal_hashes']} texts in {result['objects']} objects have the hash of the file's text\n"
        f"peak of memory above the imported modules: {result['peak_mb']} MB"
    )


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.texts", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    rows, kilobytes = number(10, 1_000_000), number(1, 15_000)
    made.add_argument("--rows", type=rows, default=1_000, metavar="N", help="rows of the file (default: 1000)")
    made.add_argument("--kilobytes", type=kilobytes, default=200, metavar="N", help="of each text (default: 200)")
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
