"""What the HTTP API takes and gives, as values: the OpenAPI document is made of these."""
