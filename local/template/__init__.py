"""Read template.yaml: resources, conditions, intrinsic functions and routes."""
