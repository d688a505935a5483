"""What the other packages of imports stand on: rows of imports, progress, states with counts, findings, options."""
