"""What importing a handler takes in a fresh interpreter, and which third-party modules it asks for.

Guaranteed: both sides of a comparison run in the same way: a new isolated process, the same import path, compiled
modules on disk; what is counted is the processor time of the import alone.
"Asked for" is exact: the import statements of our own modules as they were executed, names included, for some packages
load a part of themselves when it is named.
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
ours, asked, real = {ours!r}, {{}}, builtins.__import__

def noting(name, globals=None, locals=None, fromlist=(), level=0):
    importer = str((globals or {{}}).get("__name__")).partition(".")[0]
    top = name.partition(".")[0]
    if not level and importer in ours and top not in ours and top not in sys.stdlib_module_names:
        asked.setdefault(name, {{}}).update(dict.fromkeys(fromlist or ()))
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = noting
import {handler}
asked = {{name: list(names) for name, names in asked.items()}}
print(json.dumps({{"asked": asked, "loaded": sorted(sys.modules)}}))
"""


@dataclass(frozen=True)
class Imported:
    """What our modules asked third parties for, in that order, by module; and all modules that are loaded then."""

    asked: Mapping[str, Sequence[str]]
    loaded: frozenset[str]

    @property
    def packages(self) -> list[str]:
        """The third-party packages that were asked for."""
        return sorted({name.partition(".")[0] for name in self.asked})

    def bare(self) -> str:
        """The same import statements without us."""
        asked = self.asked.items()
        return "\n".join(
            f"from {name} import {', '.join(names)}" if names else f"import {name}" for name, names in asked
        )


@dataclass(frozen=True)
class Sources:
    """Where the code lies; `python` is who runs it."""

    functions: Path = ROOT / "functions"
    shared: Path = ROOT / "shared"
    python: str = sys.executable

    def handlers(self) -> list[str]:
        """The modules of all functions."""
        return sorted(path.stem for path in self.functions.glob("*.py"))

    def imported(self, handler: str) -> Imported:
        """What importing the handler loads."""
        ours = {handler, *(path.stem for path in self.shared.iterdir())}
        found = json.loads(self._run(_RECORDED.format(ours=ours, handler=handler)))
        return Imported(found["asked"], frozenset(found["loaded"]))

    def milliseconds(self, statements: str) -> float:
        """Processor time of the statements in a process of their own."""
        return float(self._run(_TIMED.format(statements=statements)))

    def together(self, handler: str, imported: Imported) -> float:
        """How many times as long as the bare import both take in one process, where ours comes behind it."""
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
