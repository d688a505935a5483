"""Complete an import: final spellings of names, counts, status, event, reports and the error file."""
