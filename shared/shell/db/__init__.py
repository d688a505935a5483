"""Connect to MySQL, run transactions, retry conflicts, and write rows in bulk; hold no knowledge of any table."""
