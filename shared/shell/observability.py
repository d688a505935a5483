"""The logger of every function, configured by Powertools' own variables.

Log lines carry ids, counts and codes; never the content of a document, a name or a credential.
"""

from __future__ import annotations

from aws_lambda_powertools import Logger

logger = Logger(service="exhibit-ingest")
