"""Runs inside SLURM jobs: job steps, how a job ended, and runs that the end of a job cut off."""
