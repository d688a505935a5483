"""Logger, tracer and metrics of every function: one of each, configured by Powertools' own variables.

Log lines carry ids, counts and codes; never the content of a document, a name or a credential.
"""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics, Tracer

logger = Logger(service="exhibit-ingest")
tracer = Tracer(service="exhibit-ingest")
metrics = Metrics(service="exhibit-ingest", namespace="ExhibitIngest")
