"""What the columns of a file amount to: their kinds, whether a value had an effect, and the warnings about it."""
