"""What `sam build` made, looked at from the outside: would Lambda's Python load it, and does it fit?

Guarantees that every installed package was made for the given processor and Python, that every compiled library is one
of that processor's, that every source compiles (in memory: nothing is written), that what is compiled already is of
that Python and of the source beside it, that no test and no other cache is uploaded, and that the sizes are within the
limits. It does not guarantee that anything works: `make lambda` runs what was built.

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
    "Nothing is compiled, for this machine has no Python {}.{}: every cold start compiles what it imports, about 2 s of"
    " processor time. With one on PATH, of uv or of pyenv, build again."
)


@dataclass(frozen=True)
class Part:
    """One folder of the build: a function, or a layer, whose code lies in python/."""

    path: Path

    @property
    def is_layer(self) -> bool:
        """Whether functions find it under /opt."""
        return (self.path / "python").is_dir()

    @property
    def has_packages(self) -> bool:
        """Whether it is what was installed, and not what we wrote."""
        return any(self.path.glob("python/*.dist-info"))

    @cached_property
    def files(self) -> list[Path]:
        """All files, in order; links, which a layer cannot hold, are none."""
        return [path for path in self._paths if path.is_file() and not path.is_symlink()]

    @property
    def sources(self) -> list[Path]:
        """All sources, in order."""
        return [path for path in self.files if path.suffix == ".py"]

    @property
    def compiled(self) -> list[Path]:
        """All files in __pycache__, in order, whatever they are."""
        return [path for path in self.files if path.parent.name == compiled.FOLDER]

    @property
    def links(self) -> list[Path]:
        """All symbolic links, in order."""
        return [path for path in self._paths if path.is_symlink()]

    @cached_property
    def _paths(self) -> list[Path]:
        return sorted(self.path.rglob("*"))

    @property
    def count(self) -> int:
        """How many files there are."""
        return len(self.files)

    @cached_property
    def size(self) -> int:
        """Bytes of all files, unzipped."""
        return sum(path.stat().st_size for path in self.files)

    @cached_property
    def zipped(self) -> int:
        """Bytes of all files, each deflated by itself as in a zip file."""
        return sum(len(zlib.compress(path.read_bytes())) for path in self.files)


@dataclass(frozen=True)
class Target:
    """What the build is for."""

    machine: str
    python: tuple[int, int]

    def takes(self, tag: str) -> bool:
        """Whether a wheel with this tag, as in cp313-cp313-manylinux_2_28_aarch64, can be installed there."""
        interpreters, abis, platforms = (part.split(".") for part in tag.split("-"))
        return any(self._runs(each, abi) for each in interpreters for abi in abis) and any(map(self._loads, platforms))

    def _runs(self, interpreter: str, abi: str) -> bool:
        match = re.fullmatch(r"(py|cp)(\d)(\d*)", interpreter)
        if match is None or int(match[2]) != self.python[0]:
            return False
        minor = int(match[3]) if match[3] else 0
        if match[1] == "py" or abi in ("abi3", "none"):
            return minor <= self.python[1] and (match[1] == "cp" or abi == "none")
        return minor == self.python[1] and abi == interpreter

    def _loads(self, platform: str) -> bool:
        if platform == "any" or re.fullmatch(rf"manylinux(1|2010|2014)_{self.machine}", platform):
            return True
        match = re.fullmatch(rf"manylinux_(\d+)_(\d+)_{self.machine}", platform)
        return match is not None and (int(match[1]), int(match[2])) <= GLIBC


Findings = Iterator[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line a check and a table of sizes; gives 1 when something was found, else 0."""
    options = _parser().parse_args(arguments)
    parts = [Part(path) for path in sorted(options.build.iterdir()) if path.is_dir()] if options.build.is_dir() else []
    target = Target(options.machine, options.python)
    found = 0
    for what, check in checks(target):
        findings = list(check(parts))
        found += len(findings)
        print(f"{what}: {'ok' if not findings else f'{len(findings)} found'}")
        print(*(f"  {finding}\n" for finding in findings), sep="", end="")
    print(*table(parts), sep="\n")
    if not any(part.compiled for part in parts):
        print(NOTHING_COMPILED.format(*target.python))
    return int(found > 0)


def checks(target: Target) -> Iterator[tuple[str, Callable[[Sequence[Part]], Findings]]]:
    """What is looked at, in the words that are printed."""
    python = "python{}.{}".format(*target.python)
    yield "layers and functions are there", missing
    yield f"packages are for {python} on {target.machine}", partial(foreign_packages, target)
    yield f"compiled libraries are for {target.machine}", partial(foreign_libraries, target)
    yield "sources compile", broken_sources
    yield f"what is compiled is for {python}", partial(wrongly_compiled, target)
    yield "no tests, no other caches", leftovers
    yield "sizes are within the limits", too_large


def missing(parts: Sequence[Part]) -> Findings:
    """What would let the other checks pass for want of something to look at."""
    if not any(part.has_packages for part in parts):
        yield "no layer with installed packages; run: make build"
    if not any(part.is_layer and not part.has_packages for part in parts):
        yield "no layer with our own code"
    if all(part.is_layer for part in parts):
        yield "no function"
    yield from (f"{part.path.name}: no source" for part in parts if not part.sources)


def foreign_packages(target: Target, parts: Sequence[Part]) -> Findings:
    """Packages that pip would not install there, by the tags that their wheels had."""
    for part in parts:
        for info in sorted(part.path.glob("python/*.dist-info")):
            wheel = info / "WHEEL"
            tags = re.findall(r"^Tag: (\S+)", wheel.read_text("utf-8"), re.MULTILINE) if wheel.is_file() else []
            if not any(map(target.takes, tags)):
                yield f"{info.name}: made for {', '.join(tags) or 'nobody knows what'}"


def foreign_libraries(target: Target, parts: Sequence[Part]) -> Findings:
    """Compiled files of another processor or system, whatever they are called."""
    for path in (path for part in parts for path in part.files):
        with path.open("rb") as file:
            head = file.read(20)
        if head[:4] == b"\x7fELF":
            (machine,) = struct.unpack_from("<H", head.ljust(20, b"\0"), 18)
            if machine != ELF_MACHINES[target.machine]:
                name = {number: name for name, number in ELF_MACHINES.items()}.get(machine, f"machine {machine}")
                yield f"{path}: for {name}"
        elif path.suffix in (".so", ".pyd", ".dylib", ".dll", ".exe"):
            yield f"{path}: no ELF file"


def broken_sources(parts: Sequence[Part]) -> Findings:
    """Sources that this Python does not compile."""
    sources = [path for part in parts for path in part.sources]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(_broken, sources, chunksize=64))


def _broken(source: Path) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source.read_bytes(), source, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            return f"{source}: {error}"
    return None


def wrongly_compiled(target: Target, parts: Sequence[Part]) -> Findings:
    """Compiled files that the Python would not load or should not; and, where there are any, parts left out."""
    for path in (path for part in parts for path in part.compiled):
        if fault := compiled.fault_of(path, target.python):
            yield f"{path}: {fault}"
    for part in parts if any(part.compiled for part in parts) else ():
        # Of the packages, what is seldom loaded need not be.
        if not part.has_packages:
            yield from (f"{path}: not compiled" for path in compiled.uncompiled(part.sources, target.python))
        elif not part.compiled:
            yield f"{part.path.name}: nothing is compiled, and other parts are"


def leftovers(parts: Sequence[Part]) -> Findings:
    """Files that no function needs, or that differ from one build to the next."""
    for part in parts:
        yield from (f"{path}: a link" for path in part.links)
        for path in part.files:
            names = path.relative_to(part.path).parts
            # What lies in __pycache__ has a check of its own.
            if any(map(FORBIDDEN.fullmatch, names[:-2] if path.parent.name == compiled.FOLDER else names)):
                yield str(path)


def too_large(parts: Sequence[Part]) -> Findings:
    """What exceeds our own limit for the packages, or Lambda's for a function with its layers."""
    for part in parts:
        if part.has_packages and part.size > MOST_PACKAGES:
            much = f"{_megabytes(part.size)} unzipped, over {_megabytes(MOST_PACKAGES)}"
            yield f"{part.path.name}: {much}; add to SELDOM in its Makefile what is seldom loaded"
    if (size := _largest(parts)) > MOST_ALTOGETHER:
        yield f"a function with its layers: {_megabytes(size)} unzipped, over {_megabytes(MOST_ALTOGETHER)}"


def table(parts: Sequence[Part]) -> Iterator[str]:
    """Files and sizes of each part; the functions, which are a file each, in one line."""
    layers, functions = [p for p in parts if p.is_layer], [p for p in parts if not p.is_layer]
    yield f"{'':24}{'files':>8}{'unzipped':>12}{'zipped':>12}"
    for name, those in [*((p.path.name, [p]) for p in layers), (f"{len(functions)} functions", functions)]:
        files, size, zipped = (sum(getattr(p, what) for p in those) for what in ("count", "size", "zipped"))
        yield f"{name:24}{files:>8,}{_megabytes(size):>12}{_megabytes(zipped):>12}"
    yield f"{'a function with layers':24}{'':8}{_megabytes(_largest(parts)):>12}"


def _largest(parts: Sequence[Part]) -> int:
    functions = [part.size for part in parts if not part.is_layer]
    return sum(part.size for part in parts if part.is_layer) + max(functions, default=0)


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.2f} MB"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Check what `sam build` made: processor, Python version, sources, leftovers and sizes.",
        epilog="exit status: 0 nothing was found, 1 something was, 2 wrong usage",
    )
    parser.add_argument("build", type=Path, metavar="FOLDER", help="what sam build wrote, as .aws-sam/build")
    parser.add_argument("--machine", choices=sorted(ELF_MACHINES), default="aarch64", help="default: %(default)s")
    parser.add_argument("--python", type=_version, default=(3, 13), metavar="X.Y", help="default: 3.13")
    return parser


def _version(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)\.(\d+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 3.13")
    return int(match[1]), int(match[2])


if __name__ == "__main__":
    sys.exit(main())
