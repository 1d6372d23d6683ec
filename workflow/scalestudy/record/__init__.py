"""The observation of a run on disk (`run.json`, `steps.parquet`, `epochs.csv`, `log.txt`)."""
