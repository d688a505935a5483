"""The logger and the metrics of every function, configured by Powertools' own variables.

Log lines carry ids, counts and codes; never the content of a document, a name or a credential. Metrics are lines too,
in CloudWatch's embedded format: nothing calls AWS.
"""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics

logger = Logger(service="exhibit-ingest")
metrics = Metrics(namespace="ExhibitIngest", service="exhibit-ingest")
