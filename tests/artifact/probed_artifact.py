"""An artifact with a function of the tests' own in front of the layers as they were built."""

from __future__ import annotations

import json
from pathlib import Path

from local.lambda_runtime.build_artifact import Artifact

PROBE = """
import os, sys, time

def lambda_handler(event, context):
    if "fail" in event:
        raise ValueError(event["fail"])
    if "exit" in event:
        os._exit(event["exit"])
    time.sleep(event.get("sleep", 0))
    if "answer" in event:
        return event["answer"]
    import core.errors, sqlalchemy, shell.settings
    return {
        "files": [module.__file__ for module in (core.errors, shell.settings, sqlalchemy)],
        "path": sys.path,
        "environment": dict(os.environ),
        "left": context.get_remaining_time_in_millis(),
        "pids": [os.getpid(), os.getppid()],
    }
"""


def probed(artifact: Artifact, folder: Path, code: str = PROBE, timeout: int = 30) -> Artifact:
    """The artifact with one function of the tests' own instead of ours, in front of the layers as they were built."""
    build = folder / "build"
    (build / "ProbeFunction").mkdir(parents=True)
    (build / "ProbeFunction" / "probe.py").write_text(code, encoding="utf-8")
    for layer in ("DependenciesLayer", "SharedLayer"):
        (build / layer).symlink_to(artifact.template.parent / layer)
    for name in ("runtime", "aws-lambda-rie", "interpreter"):
        (folder / name).symlink_to(artifact.folder / name)
    properties = {"Handler": "probe.lambda_handler", "CodeUri": "ProbeFunction", "Timeout": timeout}
    layers = {
        name: {"Type": "AWS::Serverless::LayerVersion", "Properties": {"ContentUri": name}}
        for name in ("DependenciesLayer", "SharedLayer")
    }
    function = {"Type": "AWS::Serverless::Function", "Properties": properties}
    shared = {"Runtime": "python3.13", "Layers": [{"Ref": name} for name in layers]}
    document = {"Globals": {"Function": shared}, "Resources": {**layers, "ProbeFunction": function}}
    (build / "template.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Artifact.load(folder)
