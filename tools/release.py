"""`make release`: build the wheel and the source distribution of the command into dist/, and check them.

Guaranteed: the same sources give the same bytes, and the wheel has the package `exhibit_ingest` and its metadata alone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from tools.sources import ROOT

PACKAGE = "exhibit_ingest"
# The earliest time that a zip can have: builds on different days have equal bytes.
_EPOCH = "315532800"


def build_distributions(folder: Path) -> list[Path]:
    """Build both distributions into a folder and return their paths, the wheel first.

    Raises subprocess.CalledProcessError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{PACKAGE}-*"):
        old.unlink()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder.resolve())]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _EPOCH}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.glob(f"{PACKAGE}-*"), key=lambda path: path.suffix != ".whl")


def find_foreign(names: Iterable[str]) -> list[str]:
    """Return the files of a wheel that are neither of the package nor its metadata."""
    return [
        name
        for name in names
        if (first := PurePosixPath(name).parts[0]) != PACKAGE and not first.endswith(".dist-info")
    ]


def main(arguments: list[str] | None = None) -> int:
    """Build and check both distributions, print their hashes and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "dist", help="where they are written (default: dist)")
    found = build_distributions(parser.parse_args(arguments).folder)
    with zipfile.ZipFile(found[0]) as wheel:
        foreign = find_foreign(wheel.namelist())
    if foreign:
        print(f"The wheel has files of other packages, such as {foreign[0]}: see pyproject.toml", file=sys.stderr)
        return 1
    for path in found:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}  ({path.stat().st_size:,} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
