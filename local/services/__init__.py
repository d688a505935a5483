"""Start and stop the private servers: MySQL, Redis, and moto for AWS."""
