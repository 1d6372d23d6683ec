"""What a person sees while a study runs: a live screen on a terminal, a line per run elsewhere.

It reads the events of Snakemake's logger interface and our own files. It parses nothing that a program prints.
"""
