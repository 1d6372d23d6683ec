"""The parts of a training step, from reading the batch to the optimizer, and their timing."""
