"""The operator, who moves the tenant of the seed before to another stack, while the tenant of this seed is at work."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.torture.clients.ledger import Ledger, Move
from tests.torture.clients.users import until
from tests.torture.plans.moves import STEPS, MoveStep
from tests.torture.stack.application import TortureStack


class Mover:
    """Moves a tenant by the steps of the plan."""

    def __init__(self, ledger: Ledger, at: TortureStack, tenant: str, plan: Sequence[MoveStep]) -> None:
        self._at, self._tenant, self._plan = at, tenant, plan
        self._move = Move(tenant, at.cells.read(tenant)[0])
        ledger.moves.append(self._move)

    def run(self) -> None:
        """Until the tenant is active in the other stack."""
        self._at.cells.abort_uploads(self._tenant)
        with TemporaryDirectory() as folder:
            for step in self._plan:
                run = partial(self._run, step.command, Path(folder), iter(step.kills))
                until(run, f"{step.command} of {self._tenant}")

    def _run(self, command: str, folder: Path, kills: Iterator[float]) -> bool:
        """Run the command, and kill it if it takes as long as the plan says; return whether it ended well."""
        process = self._at.start_tenant_tool(*self._list_arguments(command, folder))
        with suppress(subprocess.TimeoutExpired):
            self._move.last, _ = process.communicate(timeout=next(kills, None))
            return process.returncode == 0
        process.kill()
        process.communicate()
        self._move.killed += 1
        return False

    def _list_arguments(self, command: str, folder: Path) -> list[str]:
        # No user of this tenant is at work, so nothing is waited for that does not know its status yet.
        tenant, waiting = [self._tenant] if command == "export" else [], ["--unaware-seconds", "0"]
        stacks = dict(zip(("source", "target"), self._at.cells.describe(), strict=True))
        given = [f"--{name}={_write(folder / f'{name}.json', stacks[name])}" for name in STEPS[command]]
        return [command, *tenant, str(folder / "export"), *given, *(waiting if command in ("export", "load") else [])]


def _write(path: Path, stack: dict[str, str]) -> Path:
    path.write_text(json.dumps(stack), encoding="utf-8")
    return path
