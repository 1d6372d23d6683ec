"""Cost of communication: probes of synchronisation, arrival of buckets, collectives by size."""
