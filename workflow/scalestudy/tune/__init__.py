"""The best settings of a workload at one scale: what is searched, in which order, and what the answer rests on."""
