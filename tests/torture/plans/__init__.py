"""What one seed does: its files and the steps with them, clients and faults, drawn from the seed and nothing else."""
