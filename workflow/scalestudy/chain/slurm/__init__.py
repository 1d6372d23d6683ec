"""Jobs that Snakemake submits to SLURM: their requests, what partitions offer, how jobs wait and end."""
