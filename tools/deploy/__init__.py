"""Deployments that replace or remove what holds data only if they are asked to; `python -m tools.deploy --help`."""
