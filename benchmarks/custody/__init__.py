"""Two ways of locking custody, side by side."""
