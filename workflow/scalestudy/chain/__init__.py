"""What the workflow's rules decide: the config of a job, what a launch asks for, which runs a rule is for."""
