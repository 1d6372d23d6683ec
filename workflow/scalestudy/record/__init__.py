"""What was seen: the observation on disk (`run.json`, `steps.parquet`, `epochs.csv`, `log.txt`)."""
