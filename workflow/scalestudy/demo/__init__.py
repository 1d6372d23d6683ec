"""Studies with a known fault, and the code that injects faults into ranks."""
