"""The functional core: values and rules, without database, network, clock, environment or randomness."""
