"""Tag all exhibits that match filters, in the background, each of them once."""
