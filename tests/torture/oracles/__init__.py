"""Whether everything that must be true is true after a seed, from the plans, the ledger and the tables."""
