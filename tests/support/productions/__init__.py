"""Productions, their executions with faults and kills, and the volumes that they write."""
