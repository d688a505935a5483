"""The life of a case: renamed, closed, reopened, held, and requested to be purged."""
