"""A discrete-event model of one cell, and of a fleet of cells, for a month of imports."""
