"""`scalestudy VERB`: one thin module a verb; each Snakemake rule runs one of them."""
