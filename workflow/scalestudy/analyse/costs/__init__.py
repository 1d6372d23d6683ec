"""Cost of communication before it is measured: links, collectives, buckets, strategies. No files, no torch."""
