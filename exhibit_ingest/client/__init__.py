"""One HTTP client of the API: tokens, keys and retries of requests, and a sentence for every failure."""
