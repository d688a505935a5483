"""The import time of a handler in a new interpreter, and the third-party modules that it imports.

Guaranteed: both parts of a comparison run in the same way: a new isolated process, the same import path, compiled
modules on disk; only the processor time of the import is counted.
The recorded imports are the statements of the application's modules as executed, including the imported names, because
some packages load submodules when a name is imported.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import BenchmarkError

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 120
_PATH = """
import sys
sys.path[:0] = {roots!r}
"""
_TIMED = """
import time
began = time.process_time()
{statements}
print((time.process_time() - began) * 1000)
"""
_TOGETHER = """
import time
began = time.process_time()
{bare}
between = time.process_time()
import {handler}
print((between - began) * 1000, (time.process_time() - between) * 1000)
"""
_RECORDED = """
import builtins, json
ours, requested, original = {ours!r}, {{}}, builtins.__import__

def record(name, globals=None, locals=None, fromlist=(), level=0):
    importer = str((globals or {{}}).get("__name__")).partition(".")[0]
    top = name.partition(".")[0]
    if not level and importer in ours and top not in ours and top not in sys.stdlib_module_names:
        requested.setdefault(name, {{}}).update(dict.fromkeys(fromlist or ()))
    return original(name, globals, locals, fromlist, level)

builtins.__import__ = record
import {handler}
requested = {{name: list(names) for name, names in requested.items()}}
print(json.dumps({{"requested": requested, "loaded": sorted(sys.modules)}}))
"""


@dataclass(frozen=True)
class ImportedModules:
    """The third-party imports of the application, in order, as names by module; and all modules loaded afterwards."""

    requested: Mapping[str, Sequence[str]]
    loaded: frozenset[str]

    @property
    def packages(self) -> list[str]:
        """Return the imported third-party packages."""
        return sorted({name.partition(".")[0] for name in self.requested})

    def bare(self) -> str:
        """Return the third-party import statements alone."""
        requested = self.requested.items()
        return "\n".join(
            f"from {name} import {', '.join(names)}" if names else f"import {name}" for name, names in requested
        )


@dataclass(frozen=True)
class SourceTree:
    """The source folders and the interpreter."""

    functions: Path = ROOT / "functions"
    shared: Path = ROOT / "shared"
    python: str = sys.executable

    def handlers(self) -> list[str]:
        """Return the module names of all functions."""
        return sorted(path.stem for path in self.functions.glob("*.py"))

    def imported(self, handler: str) -> ImportedModules:
        """Record the imports of a handler. Raises BenchmarkError where importing it fails."""
        ours = {handler, *(path.stem for path in self.shared.iterdir())}
        found = json.loads(self._run(_RECORDED.format(ours=ours, handler=handler)))
        return ImportedModules(found["requested"], frozenset(found["loaded"]))

    def milliseconds(self, statements: str) -> float:
        """Return the processor time of the statements in a new process."""
        return float(self._run(_TIMED.format(statements=statements)))

    def together(self, handler: str, imported: ImportedModules) -> float:
        """Return the time of both imports in one process, bare first, as a multiple of the bare import's."""
        bare, rest = map(float, self._run(_TOGETHER.format(bare=imported.bare(), handler=handler)).split())
        return (bare + rest) / bare

    def _run(self, program: str) -> str:
        roots = [str(self.functions), str(self.shared)]
        command = [self.python, "-I", "-c", _PATH.format(roots=roots) + program]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
        except subprocess.TimeoutExpired as exc:
            raise BenchmarkError(f"an import took longer than {TIMEOUT_S} s") from exc
        if done.returncode:
            raise BenchmarkError(f"an import failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        return done.stdout
