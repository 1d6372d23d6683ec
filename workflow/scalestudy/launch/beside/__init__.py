"""Records what else the host did while a run was measured."""
