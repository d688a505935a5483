"""The regular expressions of the code: where they are, and how their time grows with hostile texts."""
