"""Jobs that Snakemake submits to SLURM: what is asked for, what partitions have, how jobs wait and end."""
