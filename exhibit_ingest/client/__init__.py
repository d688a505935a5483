"""One HTTP client of the API: tokens, keys and retries of requests, and a sentence for every failure."""

import sys

# httpx imports a command line of its own where it can, which takes as long as the rest of it.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
