"""Move a tenant to another stack (a cell), or bring one tenant back to a point in time."""
