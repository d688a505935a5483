"""Finds the Python that comes nearest to the template's runtime: python3.13 if this machine has one, else this one.

Guarantees that what it gives was started and is of the version that it says. Looked at are PATH, what uv has installed
(it downloads nothing) and pyenv's versions: a shim of pyenv on PATH fails where another version is chosen.

Run as `make build` does, it prints the path of a Python of that version, or nothing where there is none:
python -m tools.runtime_python template.yaml
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local.errors import TemplateError
from local.intrinsics import load_document

_ASK = "import ctypes, ssl, sys, zlib; print('%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Python:
    """An interpreter that works, and its version as in 3.13."""

    path: Path
    version: str


def main(template: Path) -> int:
    """Print who can compile for Lambda; gives an exit code."""
    wanted = wanted_version(template)
    found = nearest(wanted)
    if found.version == wanted:
        print(found.path)
    return 0


def wanted_version(template: Path) -> str:
    """The version of the template's runtime, as in 3.13; raises TemplateError where it names none."""
    runtime = load_document(template)["Globals"]["Function"].get("Runtime")
    match = re.fullmatch(r"python(\d+\.\d+)", str(runtime))
    if match is None:
        raise TemplateError(f"the runtime of {template}'s functions is {runtime!r}, not a Python")
    return match[1]


def nearest(version: str) -> Python:
    """A Python of the version, else the one that runs this."""
    for path in _candidates(version):
        if _version(path) == version:
            return Python(path, version)
    return Python(Path(sys.executable), "{}.{}".format(*sys.version_info))


def _candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    for folder in os.get_exec_path():
        if found := shutil.which(name, path=folder):
            yield Path(found)
    uv = Path(sys.executable).with_name("uv")
    if managed := _output([str(uv), "python", "find", "--managed-python", "--no-python-downloads", version]):
        yield Path(managed)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}*/bin/{name}"), reverse=True)


def _version(path: Path) -> str:
    """What the interpreter says of itself, whatever its environment; nothing where it does not start."""
    return _output([str(path), "-I", "-S", "-c", _ASK])


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
