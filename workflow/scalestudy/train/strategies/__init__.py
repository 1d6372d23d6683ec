"""How a model is run on the ranks: one process, DistributedDataParallel or FSDP2."""
