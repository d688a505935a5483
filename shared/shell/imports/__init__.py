"""Take a load file from its upload to its reports: every row once, or rejected with its line and reason."""
