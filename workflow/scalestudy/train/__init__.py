"""One rank of one run. torch is imported on this floor and nowhere else."""
