"""Functions for the workflow's rules: the config of a job, the resources of a run, the runs of a rule."""
