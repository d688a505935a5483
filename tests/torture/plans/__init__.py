"""What one seed does: its files, overlays, volumes, clients and faults, drawn from the seed and nothing else."""
