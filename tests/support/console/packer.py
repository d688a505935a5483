"""The writer of zips of the console, run by Node.

Where Node or the packages of the console are not installed, the tests are skipped with the command that installs them.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from local.stack.options import REPOSITORY

CONSOLE = REPOSITORY / "console"
NODE = REPOSITORY / ".venv-node" / "bin" / "node"
_BUNDLER = CONSOLE / "node_modules" / "rolldown" / "bin" / "cli.mjs"
_SCRIPT = CONSOLE / "tests" / "upload" / "archives.mjs"


class Packer:
    """A process that writes one archive after the other into a folder."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._folder, self._count = process, folder, 0

    def pack(self, files: Sequence[tuple[str, bytes | int]], cuts: Sequence[int] = (), **more: Any) -> Path:
        """Return the path of an archive of the files, which have bytes, or a number of zeros.

        Each part between the cuts is made by itself; with `only`, the rest of the archive is a hole.
        """
        self._count += 1
        path = self._folder / f"{self._count}.zip"
        size = self._request(files, cuts=list(cuts), out=str(path), **more)
        assert path.stat().st_size == size
        return path

    def measure(self, files: Sequence[tuple[str, bytes | int]]) -> int:
        """Return the size of an archive that is not made."""
        return self._request(files)

    def _request(self, files: Sequence[tuple[str, bytes | int]], **more: Any) -> int:
        assert self._process.stdin
        assert self._process.stdout
        described = [{"path": name, **_describe(content)} for name, content in files]
        self._process.stdin.write(json.dumps({"files": described, **more}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return int(answer["size"])


def _describe(content: bytes | int) -> dict[str, Any]:
    return {"zeros": content} if isinstance(content, int) else {"text": base64.b64encode(content).decode()}


def bundle(source: Path, target: Path, *options: str) -> None:
    """Join a module of the console and what it imports into one file; skips the test where that cannot be done."""
    if not NODE.is_file() or not _BUNDLER.is_file():
        pytest.skip("the packages of the console are missing: make console")
    command: list[str | Path] = [NODE, _BUNDLER, source, "--file", target, *options]
    subprocess.run(command, cwd=CONSOLE, check=True, capture_output=True)


@contextmanager
def run_packer(folder: Path) -> Iterator[Packer]:
    """Yield a packer that writes into the folder."""
    module = folder / "pack.mjs"
    bundle(CONSOLE / "src" / "upload" / "pack.ts", module, "--format", "esm", "--platform", "node")
    with subprocess.Popen(
        [NODE, _SCRIPT, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        yield Packer(process, folder)
        assert process.stdin
        process.stdin.close()
