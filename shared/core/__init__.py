"""The functional core: values and rules; no database, network, clock, environment or randomness."""
