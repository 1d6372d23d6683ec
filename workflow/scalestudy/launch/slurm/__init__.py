"""Launches inside SLURM jobs: job steps, what became of a job, and launches that a job cut off."""
