"""The record of each run on disk (`run.json`, `steps.parquet`, `epochs.csv`, `log.txt`)."""
