"""From the summary to verdicts, findings and recommendations. No files, no torch."""
