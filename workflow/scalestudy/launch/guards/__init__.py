"""What is checked on a host before a launch: other work, cores, memory, CUDA devices."""
