"""Build the application for this machine with the recipes of `sam build`, to run here what is deployed.

Guarantees that .aws-sam/here then contains the built application, checked as `make build` checks its output, with AWS's
runtime client and emulator and the path of the Python that it was built for; and that every handler can be imported
from the built folders alone. Prints for each handler which modules were not compiled. Uses another Python where
python3.13 is missing. Linux only, as AWS's emulator is.

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

from local.errors import LocalError, ProcessFailedError, UsageError
from local.lambda_runtime.build_artifact import BUILD, EMULATOR, INTERPRETER, RUNTIME, Artifact
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.template.model import Function
from local.template.reader import Template
from tools import check_artifact
from tools.runtime_python import Python, find_python, get_runtime_version

HERE = REPOSITORY / ".aws-sam" / "here"
_EMULATORS = {"x86_64": "x86_64", "aarch64": "arm64"}

# Every loaded module must come from the built folders or from Python itself.
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
class HandlerImport:
    """The number of modules that a handler loads from the built folders, and the names of those not compiled."""

    modules: int
    uncompiled: Sequence[str]

    def __str__(self) -> str:
        """Return a summary that names packages, not modules."""
        packages = sorted({name.partition(".")[0] for name in self.uncompiled})
        return f"{self.modules} modules" + (
            f", {len(self.uncompiled)} of them not compiled ({', '.join(packages)})" if packages else ""
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check the application, import every handler and return the exit code."""
    # Rejects any argument before the previous build is deleted.
    argparse.ArgumentParser(prog="python -m tools.build_here", description=main.__doc__, allow_abbrev=False).parse_args(
        arguments
    )
    try:
        machine = _machine()
        python = find_python(get_runtime_version(DEFAULT_TEMPLATE))
        print(
            f"Building for Python {python.version} ({python.path}) on {machine} into {HERE.relative_to(REPOSITORY)}.",
            flush=True,
        )
        shutil.rmtree(HERE, ignore_errors=True)
        build(HERE, python, machine)
        checked = [str(HERE / BUILD), "--machine", machine, "--python", python.version]
        if check_artifact.main(checked):
            return 1
        add_runtime(HERE, python, machine)
        return import_handlers(Artifact.load(HERE))
    except LocalError as error:
        print(f"make lambda: error: {error}", file=sys.stderr)
        return 1


def build(folder: Path, python: Python, machine: str) -> None:
    """Run `sam build` into a folder; raises ProcessFailedError with its output."""
    target = {"LAYER_PLATFORM": f"{machine}-manylinux_2_28", "LAYER_PYTHON": python.version}
    target |= {"RUNTIME_PYTHON": str(python.path)}
    folder.mkdir(parents=True)
    command = [str(_sam_python()), "-m", "samcli", "build", "--build-dir", str(folder / BUILD)]
    _run(command, target | {"SAM_CLI_TELEMETRY": "0"})


def add_runtime(folder: Path, python: Python, machine: str) -> None:
    """Add the runtime client and the emulator, which Lambda provides, to the folder."""
    target = ["--python-platform", f"{machine}-manylinux_2_28", "--python-version", python.version]
    pinned = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", "requirements/runtime.txt"]
    _run([str(_uv()), "pip", "install", "--quiet", "--target", str(folder / RUNTIME), *target, *pinned])
    emulators = (
        _sam_python()
        .parents[1]
        .glob(f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{_EMULATORS[machine]}")
    )
    emulator = next(emulators, None)
    if emulator is None:
        raise ProcessFailedError(
            "the SAM CLI in .venv-sam has no runtime interface emulator; delete .venv-sam and run make lambda again"
        )
    shutil.copyfile(emulator, folder / EMULATOR)
    (folder / EMULATOR).chmod(0o755)
    (folder / INTERPRETER).write_text(f"{python.path}\n", encoding="utf-8")


def import_handlers(artifact: Artifact) -> int:
    """Import every handler from the built folders alone; return 1 where one fails, else 0."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(partial(_import, artifact), Template.load(artifact.template).functions.values()))
    return int(not all(done))


def measure_import(artifact: Artifact, function: Function) -> HandlerImport:
    """Return the modules that importing a handler loads, without writing files, as on Lambda.

    Raises ProcessFailedError with the traceback when the import fails.
    """
    folders = [str(each) for each in (artifact.code(function.name), *artifact.layers(function.name))]
    command = [str(artifact.interpreter), "-I", "-S", "-B", "-c", _IMPORT, function.handler, *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=artifact.code(function.name))
    if done.returncode:
        raise ProcessFailedError(done.stderr)
    return HandlerImport(*json.loads(done.stdout))


def _import(artifact: Artifact, function: Function) -> bool:
    began = time.monotonic()
    try:
        result = f"{measure_import(artifact, function)}, {time.monotonic() - began:.1f} s"
    except ProcessFailedError as error:
        print(f"import {function.handler}: failed\n{error}", flush=True)
        return False
    print(f"import {function.handler}: {result}", flush=True)
    return True


def _machine() -> str:
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    if sys.platform != "linux" or machine not in _EMULATORS:
        raise UsageError(
            "AWS's runtime interface emulator needs Linux on x86-64 or arm64; run make lambda on such a machine"
        )
    return machine


def _sam_python() -> Path:
    return REPOSITORY / ".venv-sam" / "bin" / "python"


def _uv() -> Path:
    return REPOSITORY / ".venv" / "bin" / "uv"


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command with uv on its PATH, which the layer's recipe needs; raises ProcessFailedError with its output."""
    path = {"PATH": os.pathsep.join([str(_uv().parent), os.environ.get("PATH", os.defpath)])}
    done = subprocess.run(
        command,
        # The recipes that SAM runs must not inherit the settings of this make.
        env={**os.environ, **path, "MAKEFLAGS": "", "MAKELEVEL": "", **(environment or {})},
        cwd=REPOSITORY,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise ProcessFailedError(f"{Path(command[0]).name} failed:\n{done.stdout.rstrip()}")


if __name__ == "__main__":
    sys.exit(main())
