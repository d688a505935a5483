"""What goes wrong and when: the points in a worker, the faults planned there, and a database proxy that fails."""
