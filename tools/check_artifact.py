"""Check the output of `sam build`: can Lambda's Python load it, and is it within the size limits?

Guarantees that every installed package and every native library is for the given processor and Python, that every
source compiles (in memory: nothing is written), that every compiled file is for that Python and matches its source,
that no tests and no other caches are included, and that the sizes are within the limits. Does not guarantee that the
application works: `make lambda` runs it.

Run with any Python from 3.11 on: python -m tools.check_artifact .aws-sam/build --machine aarch64 --python 3.13
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from tools import compiled

MEGABYTE = 1_000_000
MOST_PACKAGES, MOST_ALTOGETHER = 60 * MEGABYTE, 250 * MEGABYTE
ELF_MACHINES = {"aarch64": 183, "x86_64": 62}
# The C library of Amazon Linux 2023, on which Lambda runs python3.12 and newer.
GLIBC = (2, 34)
FORBIDDEN = re.compile(
    r"__pycache__|\.\w+_cache|.*\.py[co]|tests?|test_.*\.py|conftest\.py|\.lock|uv_cache\.json|\.git"
)
NOTHING_COMPILED = (
    "Nothing is compiled, because this machine has no Python {}.{}: every cold start compiles its imports, about 2 s of"
    " processor time. Install that version (PATH, uv or pyenv) and build again."
)


@dataclass(frozen=True)
class Part:
    """One folder of the build: a function, or a layer with its code in python/."""

    path: Path

    @property
    def is_layer(self) -> bool:
        """Whether this is a layer, which Lambda mounts under /opt."""
        return (self.path / "python").is_dir()

    @property
    def has_packages(self) -> bool:
        """Whether this contains installed packages."""
        return any(self.path.glob("python/*.dist-info"))

    @cached_property
    def files(self) -> list[Path]:
        """Return all files, sorted, without symbolic links, which a layer cannot contain."""
        return [path for path in self._paths if path.is_file() and not path.is_symlink()]

    @property
    def sources(self) -> list[Path]:
        """Return all Python sources, sorted."""
        return [path for path in self.files if path.suffix == ".py"]

    @property
    def compiled(self) -> list[Path]:
        """Return all files in __pycache__ folders, sorted."""
        return [path for path in self.files if path.parent.name == compiled.FOLDER]

    @property
    def links(self) -> list[Path]:
        """Return all symbolic links, sorted."""
        return [path for path in self._paths if path.is_symlink()]

    @cached_property
    def _paths(self) -> list[Path]:
        return sorted(self.path.rglob("*"))

    @property
    def count(self) -> int:
        """Return the number of files."""
        return len(self.files)

    @cached_property
    def size(self) -> int:
        """Return the size of all files, in bytes."""
        return sum(path.stat().st_size for path in self.files)

    @cached_property
    def zipped(self) -> int:
        """Return the size of all files compressed one by one, as in a zip file, in bytes."""
        return sum(len(zlib.compress(path.read_bytes())) for path in self.files)


@dataclass(frozen=True)
class Target:
    """The processor and the Python version that the build is for."""

    machine: str
    python: tuple[int, int]

    def accepts(self, tag: str) -> bool:
        """Return whether a wheel with this tag, such as cp313-cp313-manylinux_2_28_aarch64, can be installed there."""
        interpreters, abis, platforms = (part.split(".") for part in tag.split("-"))
        return any(self._has_abi(each, abi) for each in interpreters for abi in abis) and any(
            map(self._has_platform, platforms)
        )

    def _has_abi(self, interpreter: str, abi: str) -> bool:
        match = re.fullmatch(r"(py|cp)(\d)(\d*)", interpreter)
        if match is None or int(match[2]) != self.python[0]:
            return False
        minor = int(match[3]) if match[3] else 0
        if match[1] == "py" or abi in ("abi3", "none"):
            return minor <= self.python[1] and (match[1] == "cp" or abi == "none")
        return minor == self.python[1] and abi == interpreter

    def _has_platform(self, platform: str) -> bool:
        if platform == "any" or re.fullmatch(rf"manylinux(1|2010|2014)_{self.machine}", platform):
            return True
        match = re.fullmatch(rf"manylinux_(\d+)_(\d+)_{self.machine}", platform)
        return match is not None and (int(match[1]), int(match[2])) <= GLIBC


Findings = Iterator[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per check and a table of sizes; return 1 when a check failed, else 0."""
    options = _parser().parse_args(arguments)
    parts = [Part(path) for path in sorted(options.build.iterdir()) if path.is_dir()] if options.build.is_dir() else []
    target = Target(options.machine, options.python)
    found = 0
    for name, check in list_checks(target):
        findings = list(check(parts))
        found += len(findings)
        print(f"{name}: {'ok' if not findings else f'{len(findings)} found'}")
        print(*(f"  {finding}\n" for finding in findings), sep="", end="")
    print(*format_table(parts), sep="\n")
    if not any(part.compiled for part in parts):
        print(NOTHING_COMPILED.format(*target.python))
    return int(found > 0)


def list_checks(target: Target) -> Iterator[tuple[str, Callable[[Sequence[Part]], Findings]]]:
    """Yield every check with the name that is printed."""
    python = "python{}.{}".format(*target.python)
    yield "layers and functions are present", find_missing_parts
    yield f"packages are for {python} on {target.machine}", partial(find_foreign_packages, target)
    yield f"native libraries are for {target.machine}", partial(find_foreign_libraries, target)
    yield "sources compile", find_broken_sources
    yield f"compiled files are for {python}", partial(find_stale_bytecode, target)
    yield "no tests, no other caches", find_leftovers
    yield "sizes are within the limits", find_oversized


def find_missing_parts(parts: Sequence[Part]) -> Findings:
    """Yield missing parts of the build, without which the other checks would pass."""
    if not any(part.has_packages for part in parts):
        yield "no layer with installed packages; run: make build"
    if not any(part.is_layer and not part.has_packages for part in parts):
        yield "no layer with the application's code"
    if all(part.is_layer for part in parts):
        yield "no function"
    yield from (f"{part.path.name}: no source" for part in parts if not part.sources)


def find_foreign_packages(target: Target, parts: Sequence[Part]) -> Findings:
    """Yield packages that cannot be installed on the target, by the tags of their wheels."""
    for part in parts:
        for info in sorted(part.path.glob("python/*.dist-info")):
            wheel = info / "WHEEL"
            tags = re.findall(r"^Tag: (\S+)", wheel.read_text("utf-8"), re.MULTILINE) if wheel.is_file() else []
            if not any(map(target.accepts, tags)):
                yield f"{info.name}: made for {', '.join(tags) or 'an unknown platform'}"


def find_foreign_libraries(target: Target, parts: Sequence[Part]) -> Findings:
    """Yield native libraries for another processor or system, whatever their file names."""
    for path in (path for part in parts for path in part.files):
        with path.open("rb") as file:
            head = file.read(20)
        if head[:4] == b"\x7fELF":
            (machine,) = struct.unpack_from("<H", head.ljust(20, b"\0"), 18)
            if machine != ELF_MACHINES[target.machine]:
                name = {number: name for name, number in ELF_MACHINES.items()}.get(machine, f"machine {machine}")
                yield f"{path}: for {name}"
        elif path.suffix in (".so", ".pyd", ".dylib", ".dll", ".exe"):
            yield f"{path}: not an ELF file"


def find_broken_sources(parts: Sequence[Part]) -> Findings:
    """Yield sources that this Python cannot compile."""
    sources = [path for part in parts for path in part.sources]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(_find_syntax_error, sources, chunksize=64))


def _find_syntax_error(source: Path) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source.read_bytes(), source, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            return f"{source}: {error}"
    return None


def find_stale_bytecode(target: Target, parts: Sequence[Part]) -> Findings:
    """Yield compiled files that Lambda's Python would not or should not load and, where there are any, missing ones."""
    for path in (path for part in parts for path in part.compiled):
        if fault := compiled.find_fault(path, target.python):
            yield f"{path}: {fault}"
    for part in parts if any(part.compiled for part in parts) else ():
        # Packages that are seldom loaded need not be compiled.
        if not part.has_packages:
            yield from (f"{path}: not compiled" for path in compiled.list_uncompiled(part.sources, target.python))
        elif not part.compiled:
            yield f"{part.path.name}: nothing is compiled, unlike other parts"


def find_leftovers(parts: Sequence[Part]) -> Findings:
    """Yield files that no function needs, or that differ between builds."""
    for part in parts:
        yield from (f"{path}: a symbolic link" for path in part.links)
        for path in part.files:
            names = path.relative_to(part.path).parts
            # Compiled files have their own check.
            if any(map(FORBIDDEN.fullmatch, names[:-2] if path.parent.name == compiled.FOLDER else names)):
                yield str(path)


def find_oversized(parts: Sequence[Part]) -> Findings:
    """Yield what exceeds this project's limit for packages, or Lambda's limit for a function with its layers."""
    for part in parts:
        if part.has_packages and part.size > MOST_PACKAGES:
            excess = f"{_megabytes(part.size)} unzipped, over {_megabytes(MOST_PACKAGES)}"
            yield f"{part.path.name}: {excess}; add seldom-loaded packages to SELDOM in its Makefile"
    if (size := _largest(parts)) > MOST_ALTOGETHER:
        yield f"a function with its layers: {_megabytes(size)} unzipped, over {_megabytes(MOST_ALTOGETHER)}"


def format_table(parts: Sequence[Part]) -> Iterator[str]:
    """Yield a table of files and sizes: one line per layer, and one line for all functions."""
    layers, functions = [p for p in parts if p.is_layer], [p for p in parts if not p.is_layer]
    yield f"{'':24}{'files':>8}{'unzipped':>12}{'zipped':>12}"
    for name, group in [*((p.path.name, [p]) for p in layers), (f"{len(functions)} functions", functions)]:
        files, size, zipped = (sum(getattr(p, column) for p in group) for column in ("count", "size", "zipped"))
        yield f"{name:24}{files:>8,}{_megabytes(size):>12}{_megabytes(zipped):>12}"
    yield f"{'a function with layers':24}{'':8}{_megabytes(_largest(parts)):>12}"


def _largest(parts: Sequence[Part]) -> int:
    functions = [part.size for part in parts if not part.is_layer]
    return sum(part.size for part in parts if part.is_layer) + max(functions, default=0)


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.2f} MB"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Check the output of `sam build`: processor, Python version, sources, leftovers and sizes.",
        epilog="exit status: 0 all checks passed, 1 a check failed, 2 wrong usage",
        allow_abbrev=False,
    )
    parser.add_argument("build", type=Path, metavar="FOLDER", help="output folder of sam build, such as .aws-sam/build")
    parser.add_argument(
        "--machine", choices=sorted(ELF_MACHINES), default="aarch64", help="processor (default: %(default)s)"
    )
    parser.add_argument("--python", type=_version, default=(3, 13), metavar="X.Y", help="default: 3.13")
    return parser


def _version(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)\.(\d+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 3.13")
    return int(match[1]), int(match[2])


if __name__ == "__main__":
    sys.exit(main())
