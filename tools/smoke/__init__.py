"""Try a deployed stack as its users do, through its outputs alone; `make smoke STACK=name`."""
