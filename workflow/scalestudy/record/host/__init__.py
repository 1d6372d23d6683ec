"""What a record says of the host: processors, memory, GPUs, clocks and versions."""
