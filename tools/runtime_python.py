"""Find a Python of the version of the template's runtime (python3.13) on this machine, else use the current one.

Guarantees that the returned interpreter was started and reported the returned version. Searches PATH, the versions that
uv has installed (without downloads) and pyenv's versions: a pyenv shim on PATH fails where another version is selected.

Run as `make build` does, it prints the path of a Python of that version, or nothing:
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
from local.template.intrinsics import load_document

_PRINT_VERSION = "import ctypes, ssl, sys, zlib; print('%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Python:
    """A working interpreter and its version, such as 3.13."""

    path: Path
    version: str


def main(template: Path) -> int:
    """Print the path of the Python that can compile for Lambda, if there is one, and return the exit code."""
    version = get_runtime_version(template)
    python = find_python(version)
    if python.version == version:
        print(python.path)
    return 0


def get_runtime_version(template: Path) -> str:
    """Return the version of the template's runtime, such as 3.13; raises TemplateError where it is not a Python."""
    runtime = load_document(template)["Globals"]["Function"].get("Runtime")
    match = re.fullmatch(r"python(\d+\.\d+)", str(runtime))
    if match is None:
        raise TemplateError(f"{template}: Globals.Function.Runtime is {runtime!r}, not a runtime such as python3.13")
    return match[1]


def find_python(version: str) -> Python:
    """Return a Python of the version, else the current one."""
    for path in _list_candidates(version):
        if _read_version(path) == version:
            return Python(path, version)
    return Python(Path(sys.executable), "{}.{}".format(*sys.version_info))


def _list_candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    for folder in os.get_exec_path():
        if found := shutil.which(name, path=folder):
            yield Path(found)
    uv = Path(sys.executable).with_name("uv")
    if managed := _run([str(uv), "python", "find", "--managed-python", "--no-python-downloads", version]):
        yield Path(managed)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}*/bin/{name}"), reverse=True)


def _read_version(path: Path) -> str:
    """Return the version that the interpreter reports; an empty string where it does not start."""
    return _run([str(path), "-I", "-S", "-c", _PRINT_VERSION])


def _run(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
