"""What a training step consists of, from reading the batch to the optimizer, and how its parts are timed."""
