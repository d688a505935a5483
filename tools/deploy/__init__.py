"""Deployments that replace or remove what holds data only on request; `python -m tools.deploy --help`."""
