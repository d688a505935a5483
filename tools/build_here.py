"""Builds what `sam build` builds, by the same recipe, for this machine: so that what is deployed can be run here.

Guarantees that .aws-sam/here then holds the built application, checked as `make build` checks its own, with what Lambda
brings beside it: AWS's runtime client and emulator, and the path of the Python that all of it is for; and that every
handler can be imported with nothing but the built folders, which it says of each with what was not compiled beforehand.
Where python3.13 is missing, another Python stands in.
Linux only, as AWS's emulator is.

Run as `make lambda` does: python -m tools.build_here
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from local.artifact import BUILD, EMULATOR, INTERPRETER, RUNTIME, Artifact
from local.errors import LocalError, ProcessFailedError, UsageError
from local.stack import DEFAULT_TEMPLATE, REPOSITORY
from local.template import Template
from local.wiring import Function
from tools import check_artifact
from tools.runtime_python import Python, nearest, wanted_version

HERE = REPOSITORY / ".aws-sam" / "here"
_EMULATORS = {"x86_64": "x86_64", "aarch64": "arm64"}

# Everything that was loaded must come from the built folders or from Python itself.
_IMPORT = """
import importlib, json, os, sys
from pathlib import Path
module, name = sys.argv[1].rsplit(".", 1)
folders = [Path(each).resolve() for each in sys.argv[2:]]
library = [Path(each).resolve() for each in sys.path]
sys.path[:0] = sys.argv[2:]
assert callable(getattr(importlib.import_module(module), name)), f"{name} of {module} is not callable"
files = {Path(file).resolve() for each in list(sys.modules.values()) if (file := getattr(each, "__file__", None))}
strangers = [file for file in files if not any(file.is_relative_to(folder) for folder in (*folders, *library))]
assert not strangers, f"loaded from elsewhere: {strangers}"
built = [each for each in files if any(each.is_relative_to(folder) for folder in folders)]
sources = {each.__name__: each.__cached__ for each in list(sys.modules.values()) if getattr(each, "__cached__", None)}
uncompiled = sorted(name for name, cached in sources.items() if not os.path.exists(cached))
print(json.dumps([len(built), uncompiled]))
"""


@dataclass(frozen=True)
class Imported:
    """How many modules of the built folders a handler loads, and the names of those that had to be compiled first."""

    modules: int
    uncompiled: Sequence[str]

    def __str__(self) -> str:
        """In a few words, with packages rather than modules."""
        packages = sorted({name.partition(".")[0] for name in self.uncompiled})
        return f"{self.modules} modules" + (
            f", {len(self.uncompiled)} of them not compiled ({', '.join(packages)})" if packages else ""
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, check and import everything; gives an exit code."""
    # It takes nothing, and says so before it replaces what was built.
    argparse.ArgumentParser(prog="python -m tools.build_here", description=main.__doc__).parse_args(arguments)
    try:
        machine = _machine()
        python = nearest(wanted_version(DEFAULT_TEMPLATE))
        print(f"Building for Python {python.version} ({python.path}) on {machine} into {_shown(HERE)}.", flush=True)
        shutil.rmtree(HERE, ignore_errors=True)
        build(HERE, python, machine)
        checked = [str(HERE / BUILD), "--machine", machine, "--python", python.version]
        if check_artifact.main(checked):
            return 1
        add_runtime(HERE, python, machine)
        return import_handlers(Artifact.load(HERE))
    except LocalError as error:
        print(f"make lambda: {error}", file=sys.stderr)
        return 1


def build(folder: Path, python: Python, machine: str) -> None:
    """Let SAM build every layer and function into a folder; raises ProcessFailedError with what it said."""
    target = {"LAYER_PLATFORM": f"{machine}-manylinux_2_28", "LAYER_PYTHON": python.version}
    target |= {"RUNTIME_PYTHON": str(python.path)}
    folder.mkdir(parents=True)
    command = [str(_sam_python()), "-m", "samcli", "build", "--build-dir", str(folder / BUILD)]
    _run(command, target | {"SAM_CLI_TELEMETRY": "0"})


def add_runtime(folder: Path, python: Python, machine: str) -> None:
    """Put beside the build what Lambda brings: the runtime client and the emulator."""
    target = ["--python-platform", f"{machine}-manylinux_2_28", "--python-version", python.version]
    pinned = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", "requirements-runtime.txt"]
    _run([str(_uv()), "pip", "install", "--quiet", "--target", str(folder / RUNTIME), *target, *pinned])
    emulators = (
        _sam_python()
        .parents[1]
        .glob(f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{_EMULATORS[machine]}")
    )
    found = next(emulators, None)
    if found is None:
        raise ProcessFailedError("the SAM command line of .venv-sam has no runtime interface emulator")
    shutil.copyfile(found, folder / EMULATOR)
    (folder / EMULATOR).chmod(0o755)
    (folder / INTERPRETER).write_text(f"{python.path}\n", encoding="utf-8")


def import_handlers(artifact: Artifact) -> int:
    """Import every handler in an interpreter that has the built folders alone; gives 1 where one fails, else 0."""
    with ThreadPoolExecutor(os.cpu_count()) as beside:
        done = list(beside.map(partial(_import, artifact), Template.load(artifact.template).functions.values()))
    return int(not all(done))


def imported(artifact: Artifact, function: Function) -> Imported:
    """What importing a handler loads, where nothing can be written as on Lambda; raises ProcessFailedError."""
    folders = [str(each) for each in (artifact.code(function.name), *artifact.layers(function.name))]
    command = [str(artifact.interpreter), "-I", "-S", "-B", "-c", _IMPORT, function.handler, *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=artifact.code(function.name))
    if done.returncode:
        raise ProcessFailedError(done.stderr)
    return Imported(*json.loads(done.stdout))


def _import(artifact: Artifact, function: Function) -> bool:
    began = time.monotonic()
    try:
        said = f"{imported(artifact, function)}, {time.monotonic() - began:.1f} s"
    except ProcessFailedError as error:
        print(f"import {function.handler}: failed\n{error}", flush=True)
        return False
    print(f"import {function.handler}: {said}", flush=True)
    return True


def _machine() -> str:
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    if sys.platform != "linux" or machine not in _EMULATORS:
        raise UsageError("AWS's runtime interface emulator runs on Linux alone, on x86-64 or arm64; run it there")
    return machine


def _sam_python() -> Path:
    return REPOSITORY / ".venv-sam" / "bin" / "python"


def _uv() -> Path:
    return REPOSITORY / ".venv" / "bin" / "uv"


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command that is quiet unless it fails; the layer's recipe finds uv on its PATH."""
    path = {"PATH": os.pathsep.join([str(_uv().parent), os.environ.get("PATH", os.defpath)])}
    done = subprocess.run(
        command,
        # What `make` tells its children of itself is not for the recipes that SAM runs.
        env={**os.environ, **path, "MAKEFLAGS": "", "MAKELEVEL": "", **(environment or {})},
        cwd=REPOSITORY,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise ProcessFailedError(f"{Path(command[0]).name} failed:\n{done.stdout.rstrip()}")


def _shown(path: Path) -> Path:
    return path.relative_to(REPOSITORY)


if __name__ == "__main__":
    sys.exit(main())
