"""The tools that `make` runs: builds, checks, the OpenAPI document."""
