"""The logger and the metrics of every function, configured by Powertools' own variables.

Log lines carry ids, counts and codes; never the content of a document, a name or a credential. Metrics are lines too,
in CloudWatch's embedded format: nothing calls AWS.
"""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

# The service, which is the dimension of every metric, is the stack's name.
logger = Logger()
metrics = Metrics(namespace="ExhibitIngest")


def count_now(**figures: int) -> None:
    """Emit counts as metrics of those names, at once. They are for a dashboard: what counts stands in the database."""
    for name, figure in figures.items():
        metrics.add_metric(name, MetricUnit.Count, figure)
    metrics.flush_metrics()
