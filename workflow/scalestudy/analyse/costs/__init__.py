"""What communication costs before it is measured: links, collectives, buckets, strategies. No files, no torch."""
