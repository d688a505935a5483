"""Users of the application at work at the same time, and the ledger of what they were answered."""
