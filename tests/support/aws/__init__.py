"""AWS as tests see it: moto, queues, executions, what requests ask for and which roles allow them."""
