"""Import load files and check them: send, wait, report."""
