"""What `make lambda` built for this machine: the folders that `sam build` made, and what Lambda has beside them.

Guarantees that a function is given its own built folder and the built layers of the built template, in their order, and
of this repository nothing else. It does not merge the layers into /opt: they lie one after another on Python's path.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from local.errors import TemplateError, UsageError
from local.intrinsics import load_document

BUILD, RUNTIME, EMULATOR, INTERPRETER = "build", "runtime", "aws-lambda-rie", "interpreter"


@dataclass(frozen=True)
class Artifact:
    """A folder with what was built, AWS's runtime client and emulator, and the path of the Python that it is for."""

    folder: Path

    @classmethod
    def load(cls, folder: Path) -> Artifact:
        """The artifact in a folder; raises UsageError where `make lambda` did not leave one."""
        artifact = cls(folder.resolve())
        parts = (artifact.template, artifact.runtime, artifact.emulator, artifact.folder / INTERPRETER)
        missing = [path.name for path in parts if not path.exists()]
        if missing:
            raise UsageError(f"{folder} is no built application ({', '.join(missing)} missing); run: make lambda")
        return artifact

    @property
    def template(self) -> Path:
        """The template as `sam build` wrote it."""
        return self.folder / BUILD / "template.yaml"

    @property
    def runtime(self) -> Path:
        """Where AWS's runtime client is, which Lambda brings."""
        return self.folder / RUNTIME

    @property
    def emulator(self) -> Path:
        """AWS's runtime interface emulator."""
        return self.folder / EMULATOR

    @cached_property
    def interpreter(self) -> Path:
        """The Python that the layers were resolved for."""
        return Path((self.folder / INTERPRETER).read_text(encoding="utf-8").strip())

    def code(self, function: str) -> Path:
        """The built folder of a function, given by its logical id; raises TemplateError."""
        return self._built(function, self._properties(function).get("CodeUri"))

    def layers(self, function: str) -> list[Path]:
        """Where the function's layers have their modules, in the order of the template; raises TemplateError."""
        layers = [*(self._globals.get("Layers") or []), *(self._properties(function).get("Layers") or [])]
        return [self._layer(function, layer) / "python" for layer in layers]

    def environment(self, function: str, timeout: float) -> dict[str, str]:
        """What Lambda sets and the emulator does not; a time-out in seconds, of which the emulator takes whole ones."""
        path = [self.code(function), *self.layers(function), self.runtime]
        python = self._properties(function).get("Runtime", self._globals.get("Runtime"))
        return {
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{python}",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(max(1, round(timeout))),
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "LAMBDA_RUNTIME_DIR": str(self.runtime),
            "LAMBDA_TASK_ROOT": str(self.code(function)),
            # As on Lambda, where /opt and /var/task are read-only.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(str(each) for each in path),
        }

    @cached_property
    def _document(self) -> dict[str, Any]:
        return load_document(self.template)

    @property
    def _globals(self) -> dict[str, Any]:
        return dict((self._document.get("Globals") or {}).get("Function") or {})

    def _properties(self, name: str) -> dict[str, Any]:
        try:
            return dict(self._document["Resources"][name]["Properties"])
        except KeyError as exc:
            raise TemplateError(f"{self.template} has no {name}") from exc

    def _layer(self, function: str, layer: Any) -> Path:
        match layer:
            case {"Ref": str(name)}:
                return self._built(name, self._properties(name).get("ContentUri"))
        raise TemplateError(f"{function}: the local stack knows the template's own layers alone, not {layer!r}")

    def _built(self, name: str, folder: object) -> Path:
        path = self.template.parent / str(folder)
        if not path.is_dir():
            raise TemplateError(f"{name} was not built: there is no {path}; run: make lambda")
        return path
