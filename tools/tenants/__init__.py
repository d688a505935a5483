"""The operator's work on tenants; `python -m tools.tenant` is its entry."""
