"""Define the request and response models of the HTTP API, from which the OpenAPI document is generated."""
