"""Cases that have a row in every table, and purges of them."""
