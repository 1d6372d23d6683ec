"""A training script of a user: its arguments, its trial and its study."""
