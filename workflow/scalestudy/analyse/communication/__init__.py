"""What communication costs: probes of synchronisation, arrival of buckets, collectives by size."""
