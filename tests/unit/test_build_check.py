"""What `make build` looks at in the built folders: each fault is found, and what is right passes."""

from __future__ import annotations

import py_compile
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import check_artifact
from tools.check_artifact import MEGABYTE, MOST_ALTOGETHER, MOST_PACKAGES, Target, main
from tools.compiled import compiled_path

ARM = Target("aarch64", (3, 13))
PACKAGES = "DependenciesLayer/python"
OURS = "SharedLayer/python/core/errors.py"
OWN = sys.version_info[:2]
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH


def elf(machine: int) -> bytes:
    """The first bytes of a compiled library."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, machine) + bytes(44)


def put(file: Path, content: bytes | str = b"") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A small build without fault."""
    folder = tmp_path / "a build"
    put(folder / PACKAGES / "fast-1.0.dist-info/WHEEL", "Tag: cp313-cp313-manylinux_2_17_aarch64\n")
    put(folder / PACKAGES / "fast/_speed.cpython-313-aarch64-linux-gnu.so", elf(183))
    put(folder / PACKAGES / "fast/__init__.py", "x = 1\n")
    put(folder / "SharedLayer/python/core/errors.py", "class Mistake(Exception): ...\n")
    put(folder / "ImportChunkFunction/import_chunk.py", "def lambda_handler(event, context): ...\n")
    put(folder / "template.yaml")
    return folder


def test_a_build_without_fault_passes(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(build)]) == 0
    output = capsys.readouterr().out
    assert "found" not in output
    assert "DependenciesLayer" in output
    assert "Nothing is compiled" in output
    assert list(build.rglob("*.pyc")) == []


FAULTS: dict[str, Callable[[Path], object]] = {
    "machine": lambda build: put(build / PACKAGES / "fast/other.so", elf(62)),
    "machine by another name": lambda build: put(build / PACKAGES / "fast/tool", elf(62)),
    "cut library": lambda build: put(build / PACKAGES / "fast/cut.so", b"\x7fELF"),
    "no ELF": lambda build: put(build / PACKAGES / "fast/windows.pyd", b"MZ"),
    "tag": lambda build: put(build / PACKAGES / "slow-1.dist-info/WHEEL", "Tag: cp313-cp313-manylinux_2_17_x86_64\n"),
    "no tag": lambda build: put(build / PACKAGES / "slow-1.dist-info/METADATA"),
    "syntax": lambda build: put(build / "SharedLayer/python/core/broken.py", "def ("),
    "not a source": lambda build: put(build / "SharedLayer/python/core/zero.py", "x = '\0'"),
    "test": lambda build: put(build / PACKAGES / "fast/tests/test_fast.py"),
    "cache": lambda build: put(build / "SharedLayer/python/core/__pycache__/errors.cpython-313.pyc"),
    "lock": lambda build: put(build / PACKAGES / ".lock"),
    "link": lambda build: (build / "ImportChunkFunction/link").symlink_to(build),
    "no function": lambda build: (build / "ImportChunkFunction/import_chunk.py").unlink(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(build: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    FAULTS[fault](build)
    assert main([str(build)]) == 1
    assert " found\n  " in capsys.readouterr().out


def test_what_was_not_built_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nowhere")]) == 1
    assert "make build" in capsys.readouterr().out


@pytest.fixture
def compiled(build: Path) -> Path:
    """The same, compiled for the Python that runs this."""
    for source in build.rglob("*.py"):
        py_compile.compile(str(source), invalidation_mode=UNCHECKED)
    return build


def faults_of(build: Path) -> list[str]:
    """What is found in the compiled files."""
    parts = [check_artifact.Part(path) for path in sorted(build.iterdir()) if path.is_dir()]
    return list(check_artifact.find_stale_bytecode(Target("aarch64", OWN), parts))


def cached(build: Path, source: str = OURS) -> Path:
    return compiled_path(build / source, OWN)


def changed(file: Path, at: int, content: bytes) -> None:
    before = file.read_bytes()
    file.write_bytes(before[:at] + content + before[at + len(content) :])


def test_what_is_compiled_as_lambda_loads_it_passes(compiled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_of(compiled) == []
    main([str(compiled), "--python", "{}.{}".format(*OWN)])
    output = capsys.readouterr().out
    assert "no tests, no other caches: ok" in output
    assert "Nothing is compiled" not in output
    # Packages that are seldom loaded need not be compiled.
    put(compiled / PACKAGES / "fast/seldom.py", "x = 2")
    assert faults_of(compiled) == []


def compile_as(mode: py_compile.PycInvalidationMode) -> Callable[[Path], object]:
    return lambda build: py_compile.compile(str(build / OURS), invalidation_mode=mode)


def move(build: Path) -> None:
    cached(build).rename(cached(build).with_name("errors.cpython-39.pyc"))


COMPILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "by another Python": (lambda build: changed(cached(build), 0, b"\x00\x01"), "not compiled by python"),
    "cut": (lambda build: cached(build).write_bytes(b""), "not compiled by python"),
    "looks at the hash": (compile_as(py_compile.PycInvalidationMode.CHECKED_HASH), "time or the hash"),
    "looks at the time": (compile_as(py_compile.PycInvalidationMode.TIMESTAMP), "time or the hash"),
    "stale": (lambda build: put(build / OURS, "class Error(Exception): ..."), "not compiled from the source"),
    "without a source": (lambda build: (build / OURS).unlink(), "no compiled form of a source"),
    "for another Python": (move, "no compiled form of a source"),
    "another kind of file": (lambda build: put(cached(build).with_name("data.json")), "no compiled form of a source"),
    "a part of ours left out": (lambda build: cached(build).unlink(), "errors.py: not compiled"),
    "all packages left out": (
        lambda build: cached(build, f"{PACKAGES}/fast/__init__.py").unlink(),
        "DependenciesLayer: nothing is compiled",
    ),
}


@pytest.mark.parametrize("fault", COMPILED)
def test_a_compiled_file_that_lambda_should_not_load_is_found(compiled: Path, fault: str) -> None:
    change, output = COMPILED[fault]
    change(compiled)
    assert [output in each for each in faults_of(compiled)][:1] == [True]


def test_a_compiled_test_is_a_test(compiled: Path) -> None:
    put(compiled / PACKAGES / "fast/tests/__pycache__/data.cpython-313.pyc")
    parts = [check_artifact.Part(path) for path in sorted(compiled.iterdir()) if path.is_dir()]
    assert len(list(check_artifact.find_leftovers(parts))) == 1


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ({PACKAGES: MOST_PACKAGES + 1}, 1),
        ({PACKAGES: MOST_PACKAGES - MEGABYTE}, 0),
        ({"SharedLayer/python": MOST_ALTOGETHER}, 1),
        ({"ImportChunkFunction": MOST_ALTOGETHER - MEGABYTE, "OtherFunction": 2 * MEGABYTE}, 0),
    ],
)
def test_a_size_counts_where_lambda_counts_it(
    build: Path, sizes: dict[str, int], found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A hole takes no room on the disk, and a while to be read.
    monkeypatch.setattr(check_artifact.Part, "zipped", 0)
    for folder, size in sizes.items():
        put(build / folder / "module.py")
        with (build / folder / "data").open("wb") as file:
            file.truncate(size)
    parts = [check_artifact.Part(path) for path in build.iterdir() if path.is_dir()]
    assert len(list(check_artifact.find_oversized(parts))) == found


FITTING = (
    *("py3-none-any", "py2.py3-none-any", "cp313-none-any", "py39-none-any", "cp39-abi3-manylinux_2_28_aarch64"),
    "cp313-cp313-manylinux_2_17_aarch64.manylinux2014_aarch64",
)
OTHERS = (
    *("cp313-cp313-manylinux_2_17_x86_64", "cp312-cp312-manylinux_2_17_aarch64", "cp314-abi3-manylinux_2_17_aarch64"),
    *("cp313-cp313t-manylinux_2_17_aarch64", "cp313-cp313-linux_aarch64", "cp313-cp313-musllinux_1_2_aarch64"),
    *("cp313-cp313-macosx_11_0_arm64", "cp313-cp313-manylinux_2_39_aarch64", "py2-none-any"),
    "pp310-pypy310_pp73-manylinux_2_17_aarch64",
)


@pytest.mark.parametrize(("tag", "fits"), [*((tag, True) for tag in FITTING), *((tag, False) for tag in OTHERS)])
def test_a_wheel_is_taken_where_it_fits(tag: str, fits: bool) -> None:
    assert ARM.accepts(tag) == fits
