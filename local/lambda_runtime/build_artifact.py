"""The output of `make lambda` for this machine: the folders of `sam build`, and what Lambda provides besides them.

Guaranteed: a function sees its own built folder and the built layers of the built template, in the template's order,
and nothing else of this repository.
Not guaranteed: the layers are not merged into /opt, but are separate entries of Python's path.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from local.errors import TemplateError, UsageError
from local.template.intrinsics import load_document

BUILD, RUNTIME, EMULATOR, INTERPRETER = "build", "runtime", "aws-lambda-rie", "interpreter"


@dataclass(frozen=True)
class Artifact:
    """A folder with the build, AWS's runtime client and emulator, and the path of the Python that the build is for."""

    folder: Path

    @classmethod
    def load(cls, folder: Path) -> Artifact:
        """Return the artifact in a folder; raise UsageError if a part of it is missing."""
        artifact = cls(folder.resolve())
        parts = (artifact.template, artifact.runtime, artifact.emulator, artifact.folder / INTERPRETER)
        missing = [path.name for path in parts if not path.exists()]
        if missing:
            raise UsageError(f"{folder} has no complete build, {', '.join(missing)} missing; run: make lambda")
        return artifact

    @property
    def template(self) -> Path:
        """Return the path of the template that `sam build` wrote."""
        return self.folder / BUILD / "template.yaml"

    @property
    def runtime(self) -> Path:
        """Return the folder of AWS's runtime client, which Lambda provides."""
        return self.folder / RUNTIME

    @property
    def emulator(self) -> Path:
        """Return the path of AWS's runtime interface emulator."""
        return self.folder / EMULATOR

    @cached_property
    def interpreter(self) -> Path:
        """Return the path of the Python that the layers were resolved for."""
        return Path((self.folder / INTERPRETER).read_text(encoding="utf-8").strip())

    def code(self, function: str) -> Path:
        """Return the built folder of a function by its logical id; raise TemplateError if it is missing."""
        return self._find_built(function, self._properties(function).get("CodeUri"))

    def layers(self, function: str) -> list[Path]:
        """Return the module folders of a function's layers, in the template's order.

        Raises TemplateError if a layer was not built or is not of this template.
        """
        layers = [*(self._globals.get("Layers") or []), *(self._properties(function).get("Layers") or [])]
        return [self._find_layer(function, layer) / "python" for layer in layers]

    def environment(self, function: str, timeout: float) -> dict[str, str]:
        """Return the variables that Lambda sets and the emulator does not; the timeout is rounded to whole seconds."""
        path = [self.code(function), *self.layers(function), self.runtime]
        python = self._properties(function).get("Runtime", self._globals.get("Runtime"))
        return {
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{python}",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(max(1, round(timeout))),
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "LAMBDA_RUNTIME_DIR": str(self.runtime),
            "LAMBDA_TASK_ROOT": str(self.code(function)),
            # On Lambda, /opt and /var/task are read-only.
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

    def _find_layer(self, function: str, layer: Any) -> Path:
        match layer:
            case {"Ref": str(name)}:
                return self._find_built(name, self._properties(name).get("ContentUri"))
        raise TemplateError(f"{function}: the local stack supports layers of the same template only, not {layer!r}")

    def _find_built(self, name: str, folder: object) -> Path:
        path = self.template.parent / str(folder)
        if not path.is_dir():
            raise TemplateError(f"{name} was not built: {path} does not exist; run: make lambda")
        return path
