"""Store what rows state about families, and find parents and children from it when they are read."""
