"""The facts on the host in a record: processors, memory, GPUs, clocks and versions."""
